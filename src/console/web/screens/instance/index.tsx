/** What the owner of the installation looks after: health, versions, figures by day, backups and upgrades. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError, type CallResult } from '../../../../client/http/api.ts'
import { getHealth } from '../../../../features/health/contract.ts'
import { reportInstance } from '../../../../features/instance/contract.ts'
import { api } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { CodeBlock } from '../../parts/show/code_block.tsx'
import { texts } from '../../texts/index.ts'
import { Metrics } from './metrics.tsx'

const words = texts.instance
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const sizes = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'megabyte',
  maximumFractionDigits: 1,
})
const MEGABYTE = 1e6

type Report = CallResult<typeof reportInstance>
type Health = CallResult<typeof getHealth>

export function Instance() {
  const report = useQuery({
    queryKey: ['instance.report'],
    queryFn: () => api.call(reportInstance, {}),
  })
  return (
    <section className="stack">
      <h1>{words.title}</h1>
      <Shown {...report} again={() => void report.refetch()} />
    </section>
  )
}

type ShownProps = { data: Report | undefined; error: unknown; again(): void }

function Shown({ data, error, again }: ShownProps) {
  if (error instanceof ApiError && error.status === 403) {
    return (
      <EmptyState title={words.onlyOwner}>
        <p>{words.onlyOwnerHelp}</p>
      </EmptyState>
    )
  }
  if (error) {
    return (
      <>
        <FailureNote error={error} />
        <div>
          <Button onPress={again}>{texts.errors.tryAgain}</Button>
        </div>
      </>
    )
  }
  if (!data) return <Loading />
  return (
    <>
      <HealthNow />
      <Reported {...data} />
      <Metrics />
      <section className="stack" aria-labelledby="backups">
        <h2 id="backups">{words.backups}</h2>
        <p>
          {data.last_backup === null
            ? words.noBackup
            : words.lastBackup(moments.format(new Date(data.last_backup.at)))}
        </p>
        {data.backup_failed_at === null ? null : (
          <Banner kind="warning">
            {words.backupFailed(moments.format(new Date(data.backup_failed_at)))}
          </Banner>
        )}
        <p>{words.backupText}</p>
        <CodeBlock text={words.backupCommand} name={words.backups} />
        <h2>{words.upgrade}</h2>
        <p>{words.current(data.version, data.database.migration)}</p>
        <p>{words.upgradeText}</p>
        <p className="soft">{words.docs}</p>
      </section>
    </>
  )
}

const HEALTH_MS = 15_000

function HealthNow() {
  const { data, error } = useQuery({
    queryKey: ['health'],
    queryFn: () => api.call(getHealth, {}),
    refetchInterval: HEALTH_MS,
  })
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  const isWell = data.status === 'healthy'
  return (
    <section className="stack" aria-labelledby="health">
      <h2 id="health">{words.health}</h2>
      <Banner kind={isWell ? 'good' : 'danger'}>
        <dl className="facts">
          {(['database', 'cache', 'encryption'] as const).map((name) => (
            <Fact key={name} name={words.checks[name]}>
              {stateOf(data, name)}
            </Fact>
          ))}
        </dl>
      </Banner>
    </section>
  )
}

function stateOf({ checks }: Health, name: keyof Health['checks']): string {
  const { status, latency_ms } = checks[name]
  return `${words[status]}, ${words.latency(latency_ms)}`
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

function Reported({ version, started_at, database, settings }: Report) {
  return (
    <dl className="facts">
      <Fact name={words.version}>{version}</Fact>
      <Fact name={words.running}>{moments.format(new Date(started_at))}</Fact>
      <Fact name={words.database}>
        {words.databases[database.kind]} {database.version}
      </Fact>
      <Fact name={words.size}>{sizes.format(database.size_bytes / MEGABYTE)}</Fact>
      <Fact name={words.migration}>{database.migration}</Fact>
      <Fact name={words.registration}>{words.registrations[settings.registration]}</Fact>
      <Fact name={words.workers}>{settings.workers}</Fact>
      <Fact name={words.retention}>{words.days(settings.audit_retention_days)}</Fact>
      <Fact name={words.seenState}>{settings.keeps_seen_state ? words.yes : words.no}</Fact>
    </dl>
  )
}
