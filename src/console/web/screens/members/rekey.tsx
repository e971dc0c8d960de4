/** Rekeys a workspace: asks first, shows the progress, and names the tokens that stopped working. */
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { ask } from '../../keys/ask.ts'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ConfirmDialog } from '../../parts/overlays/confirm.tsx'
import { Dialog } from '../../parts/overlays/dialog.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { ProgressMeter } from '../../parts/page/progress.tsx'
import { Proof } from '../../parts/page/proof.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { queryClient, useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.members.rekey

type Done = Returned<'members.rekey'>

/** `dialogs` must be rendered; `open` asks the question. */
export function useRekey(workspaceId: string) {
  const [isOpen, setOpen] = useState(false)
  const [done, setDone] = useState<Done | null>(null)
  const [part, setPart] = useState<number | null>(null)
  const rekey = async () => {
    try {
      setDone(await ask('members.rekey', { workspaceId }, ({ done: now }) => setPart(now ?? 0)))
    } finally {
      setPart(null)
      // All versions and envelopes changed.
      await queryClient.invalidateQueries()
    }
  }
  const dialogs = (
    <>
      <ConfirmDialog
        verb={words.title}
        title={words.question}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={rekey}
      >
        <p>{words.what}</p>
        <Ends workspaceId={workspaceId} />
        {part === null ? null : <ProgressMeter label={words.sealing} done={part} />}
      </ConfirmDialog>
      {done ? <Result done={done} onClose={() => setDone(null)} /> : null}
    </>
  )
  return { open: () => setOpen(true), dialogs }
}

/** One line above the list, shown while a rekey is due. */
export function RekeyNotice({ onRekey }: { onRekey(): void }) {
  return (
    <div
      role="note"
      className="flex shrink-0 items-center gap-3 border-b border-line bg-amber-soft px-5 py-1.5 text-amber phone:px-4"
    >
      <Icon of={KeyRound} />
      <p className="min-w-0 flex-1">
        <span className="font-medium">{words.due}</span> {words.dueHelp}
      </p>
      <Button size="small" onPress={onRekey}>
        {words.title}
      </Button>
    </div>
  )
}

function Ends({ workspaceId }: { workspaceId: string }) {
  const { data, error } = useAsk('members.rekeyEnds', { workspaceId })
  if (error) return <FailureNote error={error} />
  return data ? <p>{words.ends(data.changed, data.deleted)}</p> : <SkeletonRows count={1} />
}

function Result({ done, onClose }: { done: Done; onClose(): void }) {
  const { epoch, members, tokens, secrets, left } = done
  return (
    <Dialog
      title={words.doneTitle}
      isOpen
      onClose={onClose}
      footer={
        <Button kind="primary" autoFocus onPress={onClose}>
          {texts.members.invite.done}
        </Button>
      }
    >
      <p role="status">{words.done(members, tokens, secrets)}</p>
      {left.length > 0 ? (
        <>
          <p>{words.left}</p>
          <ul className="flex flex-col gap-1 text-ink-2">
            {left.map(({ id, label, reason }) => (
              <li key={id}>{words.leftOne(label, reason)}</li>
            ))}
          </ul>
        </>
      ) : null}
      <Proof>
        <Facts
          rows={[
            [words.epoch, epoch],
            ...left.map(
              ({ label, creator, fingerprint }) =>
                [label, words.leftProof(creator, fingerprint)] as const,
            ),
          ]}
        />
      </Proof>
    </Dialog>
  )
}
