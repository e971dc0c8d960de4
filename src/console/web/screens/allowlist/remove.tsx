/** Removes an allowed host, after showing the calls that would be refused. */
import type { AskError } from '../../keys/ask.ts'
import { ConfirmDialog } from '../../parts/overlays/confirm.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.allowlist

type Props = { workspaceId: string; domain: string; onClose(): void }

export function RemoveHost({ workspaceId, domain, onClose }: Props) {
  const changes = { changes: ['allowlist.list'] } as const
  const remove = useCommand('allowlist.remove', changes)
  const add = useCommand('allowlist.add', changes)
  const confirm = async () => {
    await remove.mutateAsync({ workspaceId, domain }).catch((error: AskError) => {
      // Someone else removed it meanwhile.
      if (error.code !== 'not_found') throw error
    })
    say(words.removed(domain), {
      act: async () => {
        await add.mutateAsync({ workspaceId, domain })
        return words.isAdded(domain)
      },
      failed: words.notAdded(domain),
    })
  }
  return (
    <ConfirmDialog
      verb={words.remove}
      title={words.removeNamed(domain)}
      isOpen
      onClose={onClose}
      onConfirm={confirm}
    >
      <RecentCalls workspaceId={workspaceId} domain={domain} />
    </ConfirmDialog>
  )
}

function RecentCalls({ workspaceId, domain }: Pick<Props, 'workspaceId' | 'domain'>) {
  const { data, error } = useAsk('allowlist.calls', { workspaceId, domain })
  if (error) return <FailureNote error={error} />
  if (!data) return <p role="status">{words.looking}</p>
  if (data.calls === 0) return <p>{data.isWhole ? words.unused : words.unknownUse}</p>
  return (
    <>
      <p>{words.breaks(data.calls, data.isWhole)}</p>
      <Facts
        rows={[
          [words.agents, data.agents.map(formatCountedName).join(', ')],
          [words.secrets, data.secrets.map(formatCountedName).join(', ')],
        ]}
      />
    </>
  )
}

function formatCountedName({ name, count }: { name: string; count: number }): string {
  return words.counted(name, count)
}
