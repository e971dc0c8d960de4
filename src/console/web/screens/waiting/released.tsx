/** Current approvals from the server's list. Each can be revoked. */
import { useMay } from '../../manages.ts'
import { Button } from '../../parts/button.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { timeOf } from '../../parts/show/moments.ts'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { DECIDED, type ReleasedUse } from '../../waiting.ts'

const words = texts.waiting

type Props = { workspaceId: string; released: readonly ReleasedUse[]; title: string | null }

export function Released({ workspaceId, released, title }: Props) {
  const decides = useMay(workspaceId, 'approval.decide')
  const revoke = useCommand('approvals.revoke', { changes: DECIDED })
  const revokeUse = ({ id }: ReleasedUse) =>
    revoke.mutate({ workspaceId, id }, { onSuccess: () => say(words.revoked) })
  if (released.length === 0) return null
  return (
    <>
      {title ? (
        <h3 className="border-t border-line bg-canvas px-3 py-1.5 text-small font-medium text-ink-2">
          {title}
        </h3>
      ) : null}
      <ul aria-label={words.released}>
        {released.map((use) => (
          <li
            key={use.id}
            className="flex items-center gap-3 border-t border-line px-3 py-2 phone:flex-wrap phone:justify-end"
          >
            <span className="min-w-0 flex-1 phone:basis-full">
              <span className="block truncate font-medium">{callsOf(use)}</span>
              <span className="block truncate text-ink-3">
                {[use.agent, use.secrets.join(', '), words.until(timeOf(use.expiresAt))].join(
                  ' · ',
                )}
              </span>
            </span>
            {decides ? (
              <Button
                size="small"
                aria-label={words.revoking(`${use.agent}: ${callsOf(use)}`)}
                isPending={revoke.isPending && revoke.variables.id === use.id}
                onPress={() => revokeUse(use)}
              >
                {words.revoke}
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      {revoke.error ? <FailureNote error={revoke.error} /> : null}
    </>
  )
}

function callsOf({ method, host, window }: ReleasedUse): string {
  if (window === null) return words.releasedOnce(method, host)
  return `${window.methods.join(', ')} ${window.host}${window.prefix}`
}
