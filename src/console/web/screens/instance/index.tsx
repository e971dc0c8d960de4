/** The state of the installation, for its owner: health, versions, storage, figures by day and backups. */
import { useQuery } from '@tanstack/react-query'
import { ShieldAlert } from 'lucide-react'
import { ApiError, type CallResult } from '../../../../client/http/api.ts'
import { reportInstance } from '../../../../features/instance/contract.ts'
import { api } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { texts } from '../../texts/index.ts'
import { HealthCard, HealthState } from './health.tsx'
import { Metrics } from './metrics.tsx'
import { BackupCard, SettingsCard, StorageCard, VersionCard } from './report.tsx'

const words = texts.instance

type Report = CallResult<typeof reportInstance>

export function Instance() {
  const { data, error, refetch } = useQuery({
    queryKey: ['instance.report'],
    queryFn: () => api.call(reportInstance, {}),
  })
  return (
    <Screen
      title={texts.common.areas.instance}
      state={data ? <HealthState hasBackupFailed={data.backup_failed_at !== null} /> : undefined}
      isPage
    >
      {error ? <NotRead error={error} again={() => void refetch()} /> : null}
      {data || error ? null : <SkeletonRows count={6} height={56} />}
      {data ? <Cards report={data} /> : null}
    </Screen>
  )
}

function NotRead({ error, again }: { error: Error; again(): void }) {
  if (error instanceof ApiError && error.status === 403) {
    return (
      <EmptyState icon={ShieldAlert} title={words.onlyOwner}>
        <p>{words.onlyOwnerHelp}</p>
      </EmptyState>
    )
  }
  return (
    <div className="flex max-w-160 flex-col gap-3">
      <FailureNote error={error} />
      <Button onPress={again}>{texts.errors.tryAgain}</Button>
    </div>
  )
}

function Cards({ report }: { report: Report }) {
  return (
    <div className="grid max-w-324 gap-4 wide:grid-cols-2">
      <HealthCard />
      <VersionCard report={report} />
      <Metrics />
      <StorageCard report={report} />
      <SettingsCard report={report} />
      <BackupCard report={report} />
    </div>
  )
}
