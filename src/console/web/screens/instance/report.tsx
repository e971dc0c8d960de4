/** Version, storage, settings and backups, as the server reports them. */
import type { CallResult } from '../../../../client/http/api.ts'
import type { reportInstance } from '../../../../features/instance/contract.ts'
import { Banner } from '../../parts/page/banner.tsx'
import { Card } from '../../parts/page/card.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { CodeBlock } from '../../parts/show/code_block.tsx'
import { momentOf } from '../../parts/show/moments.ts'
import { texts } from '../../texts/index.ts'

const words = texts.instance
const sizes = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'megabyte',
  maximumFractionDigits: 1,
})
const MEGABYTE = 1e6

type Props = { report: CallResult<typeof reportInstance> }

export function VersionCard({ report: { version, started_at } }: Props) {
  return (
    <Card title={words.version} description={words.upgrade}>
      <Facts
        rows={[
          [words.server, version],
          [words.running, <Ago key="started" at={started_at} />],
        ]}
      />
    </Card>
  )
}

export function StorageCard({ report: { database } }: Props) {
  return (
    <Card title={words.storage}>
      <Facts
        rows={[
          [words.database, `${words.databases[database.kind]} ${database.version}`],
          [words.size, sizes.format(database.size_bytes / MEGABYTE)],
          [words.migration, <code key="migration">{database.migration}</code>],
        ]}
      />
    </Card>
  )
}

export function SettingsCard({ report: { settings } }: Props) {
  return (
    <Card title={words.settings}>
      <Facts
        rows={[
          [words.registration, words.registrations[settings.registration]],
          [words.workers, settings.workers],
          [words.retention, words.days(settings.audit_retention_days)],
          [words.seenState, settings.keeps_seen_state ? words.kept : words.lost],
        ]}
      />
    </Card>
  )
}

export function BackupCard({ report: { last_backup, backup_failed_at } }: Props) {
  return (
    <Card title={words.maintenance} description={words.keysApart}>
      {backup_failed_at === null ? null : (
        <Banner kind="warning">{words.backupFailed(momentOf(backup_failed_at))}</Banner>
      )}
      <Facts
        rows={[
          [words.backup, last_backup ? <Ago key="backup" at={last_backup.at} /> : words.noBackup],
        ]}
      />
      <CodeBlock text={words.backupCommand} name={words.backupLabel} />
    </Card>
  )
}
