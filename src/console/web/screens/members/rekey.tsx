/** A new key of the workspace: what it ends is said before, how far it is meanwhile, and what it left after. */
import { useState } from 'react'
import { ask } from '../../keys/ask.ts'
import type { Returned } from '../../keys/messages.ts'
import { ConfirmButton } from '../../parts/overlays/confirm.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { ProgressMeter } from '../../parts/page/progress.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { queryClient, useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.members.rekey

type Props = { workspaceId: string; isSigned: boolean; isDue: boolean }
type Done = Returned<'members.rekey'>

export function Rekey({ workspaceId, isSigned, isDue }: Props) {
  const [done, setDone] = useState<Done | null>(null)
  const [part, setPart] = useState<number | null>(null)
  const rekey = async () => {
    setDone(null)
    try {
      setDone(await ask('members.rekey', { workspaceId }, ({ done: now }) => setPart(now ?? 0)))
    } finally {
      setPart(null)
      // All versions and envelopes are others now.
      await queryClient.invalidateQueries()
    }
  }
  return (
    <>
      {isDue ? <Banner kind="warning">{words.due}</Banner> : null}
      {isSigned ? (
        <div>
          <ConfirmButton verb={words.title} title={words.title} onConfirm={rekey}>
            <p>{words.what}</p>
            <Ends workspaceId={workspaceId} />
            {part === null ? null : <ProgressMeter label={words.sealing} done={part} />}
          </ConfirmButton>
        </div>
      ) : (
        <p className="soft">
          {words.plain} <CopyButton text={words.plainCommand} name={texts.common.theCommand} />
        </p>
      )}
      {done ? <Result {...done} /> : null}
    </>
  )
}

function Ends({ workspaceId }: { workspaceId: string }) {
  const { data, error } = useAsk('members.rekeyEnds', { workspaceId })
  if (error) return <FailureNote error={error} />
  return data ? <p>{words.ends(data.changed, data.deleted)}</p> : <Loading />
}

function Result({ epoch, members, tokens, secrets, left }: Done) {
  return (
    <Banner kind="good">
      <p role="status">{words.done(epoch, members, tokens, secrets)}</p>
      {left.length > 0 ? (
        <>
          <p>{words.left}</p>
          <ul>
            {left.map(({ id, label, creator, fingerprint, reason }) => (
              <li key={id}>{words.leftOne(label, creator, fingerprint, reason)}</li>
            ))}
          </ul>
        </>
      ) : null}
    </Banner>
  )
}
