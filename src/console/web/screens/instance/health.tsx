/** The server's health, checked every 15 seconds. */
import { useQuery } from '@tanstack/react-query'
import { getHealth } from '../../../../features/health/contract.ts'
import { api } from '../../api.ts'
import { Card } from '../../parts/page/card.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { Status } from '../../parts/show/status.tsx'
import { texts } from '../../texts/index.ts'

const words = texts.instance
const HEALTH_MS = 15_000
const CHECKS = ['database', 'cache', 'encryption'] as const

function useHealth() {
  return useQuery({
    queryKey: ['health'],
    queryFn: () => api.call(getHealth, {}),
    refetchInterval: HEALTH_MS,
  })
}

/** In the top bar. */
export function HealthState({ hasBackupFailed }: { hasBackupFailed: boolean }) {
  const { data } = useHealth()
  if (!data) return null
  if (data.status === 'healthy' && hasBackupFailed) {
    return (
      <Status tone="amber" dot>
        {words.overall.backup}
      </Status>
    )
  }
  return (
    <Status tone={data.status === 'healthy' ? 'green' : 'red'} dot>
      {words.overall[data.status]}
    </Status>
  )
}

export function HealthCard() {
  const { data, error } = useHealth()
  return (
    <Card title={words.health}>
      {error ? <FailureNote error={error} /> : null}
      {data || error ? null : <SkeletonRows count={CHECKS.length} height={34} />}
      {data ? (
        <dl className="flex flex-col gap-2">
          {CHECKS.map((name) => {
            const { status, latency_ms } = data.checks[name]
            return (
              <div key={name} className="flex items-center gap-2">
                <dt className="flex-1">{words.checks[name]}</dt>
                <dd className="flex items-center gap-3">
                  <span className="text-ink-3 tabular-nums">{words.latency(latency_ms)}</span>
                  <Status tone={status === 'healthy' ? 'green' : 'red'}>{words[status]}</Status>
                </dd>
              </div>
            )
          })}
        </dl>
      ) : null}
    </Card>
  )
}
