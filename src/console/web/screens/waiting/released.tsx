/** What is allowed now, as the server lists it, with the way to revoke it. */
import { useMay } from '../../frame/manages.ts'
import { Button } from '../../parts/button.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { timeOf } from '../../parts/show/moments.ts'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { DECIDED, type ReleasedUse } from './waiting.ts'

const words = texts.waiting

type Props = { workspaceId: string; released: readonly ReleasedUse[] }

export function Released({ workspaceId, released }: Props) {
  const decides = useMay(workspaceId, 'approval.decide')
  const revoke = useCommand('approvals.revoke', { changes: DECIDED })
  if (released.length === 0) return null
  return (
    <section className="stack-tight" aria-labelledby="released">
      <h3 id="released">{words.released}</h3>
      <ul className="plain-list stack-tight">
        {released.map((use) => (
          <li key={use.id} className="row">
            <span>
              {sentenceOf(use)}{' '}
              <span className="soft small">{words.until(timeOf(use.expiresAt))}</span>
            </span>
            {decides ? (
              <Button
                aria-label={words.revoking(sentenceOf(use))}
                isPending={revoke.isPending && revoke.variables.id === use.id}
                onPress={() =>
                  revoke.mutate(
                    { workspaceId, id: use.id },
                    { onSuccess: () => say(words.revoked) },
                  )
                }
              >
                {words.revoke}
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      {revoke.error ? <FailureNote error={revoke.error} /> : null}
    </section>
  )
}

function sentenceOf({ agent, method, host, window, secrets }: ReleasedUse): string {
  if (window === null) return words.releasedOnce(agent, method, host, secrets)
  const address = `${window.host}${window.prefix}`
  return words.releasedWindow(agent, window.methods.join(', '), address, secrets)
}
