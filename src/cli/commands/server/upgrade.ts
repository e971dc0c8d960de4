/** `cloakroom upgrade --check`: previews the database changes of the next start. */
import { printableJson, printableLines } from '../../../core/printable.ts'
import { serverConfig } from '../../../operator/backup/index.ts'
import { checkUpgrade, reportLines } from '../../../operator/upgrade_check/index.ts'
import { command } from '../../command.ts'
import { runExplained } from '../../operator.ts'
import { CliError } from '../../terminal/cli_error.ts'

/** Returns 0, 1 for warnings, 2 if the upgrade would fail, or 78 for wrong settings. */
export default command({
  usage: 'upgrade',
  examples: ['upgrade --check', 'upgrade --check --json'],
  options: [['--check', 'check only; the next start performs the upgrade']],
  action: ({ host, output }, _, options) =>
    runExplained(host, async () => {
      if (options.check !== true)
        throw new CliError(
          'usage',
          'the next start performs the upgrade; add --check to preview it',
        )
      const now = Date.now()
      const report = await checkUpgrade(serverConfig(), now)
      const text = output.isJson
        ? `${printableJson(report, 2)}\n`
        : printableLines(reportLines(report, now))
      host.streams.stdout.write(text)
      return report.verdict
    }),
})
