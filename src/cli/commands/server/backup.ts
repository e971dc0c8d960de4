import { serverConfig } from '../../../operator/backup/index.ts'
import { command } from '../../command.ts'
import { countOf, runExplained } from '../../operator.ts'

export default command({
  usage: 'backup <path>',
  examples: ['backup /backups/cloakroom.backup', 'backup --recipient age1… cloakroom.backup'],
  options: [['--recipient <recipient...>', 'encrypt to this age public key (age1…)']],
  action: ({ host, output }, [file], options) =>
    runExplained(host, async () => {
      const { backUp: make } = await import('../../../operator/backup/index.ts')
      const recipients = options.recipient ?? []
      const sums = await output.during('backing up', make(serverConfig(), { file, recipients }))
      const how = recipients.length > 0 ? 'encrypted' : 'not encrypted'
      output.done(`backed up ${countOf(sums)} to ${file}, ${how}`, {
        file,
        encrypted: recipients.length > 0,
        tables: sums,
      })
      output.note('the backup does not contain the server keys: store them separately')
      return 0
    }),
})
