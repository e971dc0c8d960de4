import { serverConfig } from '../../../operator/backup/index.ts'
import { command } from '../../command.ts'
import { countOf, runExplained } from '../../operator.ts'
import { CliError } from '../../terminal/cli_error.ts'

export default command({
  usage: 'move',
  examples: [
    'move --to postgres://cloakroom@db.internal/cloakroom --dry-run',
    'move --to postgres://cloakroom@db.internal/cloakroom',
    'move --to /var/lib/cloakroom',
  ],
  options: [
    [
      '--to <target>',
      'postgres://user@host:port/database, or a directory for the embedded database',
    ],
    ['--dry-run', 'read and count all data and check the target, without writing'],
  ],
  action: ({ host, output }, _, options) =>
    runExplained(host, async () => {
      const { to, dryRun = false } = options
      if (to === undefined) throw new CliError('usage', 'the target is missing: pass --to')
      const { move } = await import('../../../operator/backup/index.ts')
      const { sums, place } = await output.during('moving', move(serverConfig(), { to, dryRun }))
      const what = `${countOf(sums)} to ${place}`
      output.done(dryRun ? `would move ${what}` : `moved ${what}, and compared every table`, {
        place,
        dry_run: dryRun,
        tables: sums,
      })
      if (!dryRun) output.note('the old database is unchanged; the new one needs the same keys')
      return 0
    }),
})
