import { identitiesIn, serverConfig } from '../../../operator/backup/index.ts'
import { command } from '../../command.ts'
import { countOf, runExplained } from '../../operator.ts'

export default command({
  usage: 'restore <path>',
  examples: [
    'restore /backups/cloakroom.backup',
    'restore --identity key.txt cloakroom.backup',
    'restore --force cloakroom.backup',
  ],
  options: [
    ['--identity <path>', 'file with the age private key, as written by age-keygen'],
    ['--force', 'replace the existing database, which is kept under another name'],
  ],
  action: ({ host, output }, [file], options) =>
    runExplained(host, async () => {
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
      if (kept !== null) output.note(`the previous database is in ${kept}`)
      return 0
    }),
})
