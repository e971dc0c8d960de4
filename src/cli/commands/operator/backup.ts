/** `cloakroom backup`, `cloakroom restore` and `cloakroom move`: for who runs a server, with its settings. */
import { type backUp, identitiesIn } from '../../../operator/backup/index.ts'
import type { backupOptions, moveOptions, restoreOptions } from '../../catalogue/operating.ts'
import type { Action } from '../../command.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { explained, serverConfig } from './operator.ts'

type Sums = Awaited<ReturnType<typeof backUp>>

export const backup: Action<typeof backupOptions> = ({ host, output }, [file = ''], options) =>
  explained(host, async () => {
    const { backUp: make } = await import('../../../operator/backup/index.ts')
    const recipients = options.recipient ?? []
    const sums = await output.during('backing up', make(serverConfig(), { file, recipients }))
    const how = recipients.length > 0 ? 'encrypted' : 'not encrypted'
    output.done(`backed up ${countOf(sums)} to ${file}, ${how}`, {
      file,
      encrypted: recipients.length > 0,
      tables: sums,
    })
    output.note('the keys of the server are not in it: keep them apart')
    return 0
  })

export const restoreBackup: Action<typeof restoreOptions> = (
  { host, output },
  [file = ''],
  options,
) =>
  explained(host, async () => {
    const { restore } = await import('../../../operator/backup/index.ts')
    const identities = options.identity === undefined ? [] : await identitiesIn(options.identity)
    const given = { file, identities, force: options.force === true }
    const { header, sums, place, kept } = await output.during(
      'restoring',
      restore(serverConfig(), given),
    )
    const { created_at, version } = header
    output.done(`restored ${countOf(sums)} of ${created_at} to ${place}`, {
      file,
      place,
      created_at,
      version,
      kept,
      tables: sums,
    })
    if (kept !== null) output.note(`what was there before is kept in ${kept}`)
    return 0
  })

export const moveDatabase: Action<typeof moveOptions> = ({ host, output }, _, options) =>
  explained(host, async () => {
    const { to, dryRun = false } = options
    if (to === undefined) throw new CliError('usage', 'where to? add --to')
    const { move } = await import('../../../operator/backup/index.ts')
    const { sums, place } = await output.during('moving', move(serverConfig(), { to, dryRun }))
    const what = `${countOf(sums)} to ${place}`
    output.done(dryRun ? `would move ${what}` : `moved ${what}, each table compared`, {
      place,
      dry_run: dryRun,
      tables: sums,
    })
    if (!dryRun) output.note('the old database is as it was; the new one needs the same keys')
    return 0
  })

function countOf(sums: Sums): string {
  const rows = Object.values(sums).reduce((sum, { rows }) => sum + rows, 0)
  return `${rows} rows of ${Object.keys(sums).length} tables`
}
