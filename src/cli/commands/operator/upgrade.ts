/** `cloakroom upgrade --check`: what the next start will do to the database, before it does. */

import { printableJson, printableLines } from '../../../core/printable.ts'
import { checkUpgrade, reportLines } from '../../../operator/upgrade_check/index.ts'
import type { upgradeOptions } from '../../catalogue/operating.ts'
import type { Action } from '../../command.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { explained, serverConfig } from './operator.ts'

/** Returns 0, 1 where something is to be seen to first, 2 where it would not work, or 78 for wrong settings. */
export const upgrade: Action<typeof upgradeOptions> = ({ host, output }, _, options) =>
  explained(host, async () => {
    if (options.check !== true)
      throw new CliError('usage', 'a start does the upgrade: to see what it will do, add --check')
    const now = Date.now()
    const report = await checkUpgrade(serverConfig(), now)
    const text = output.isJson
      ? `${printableJson(report, 2)}\n`
      : printableLines(reportLines(report, now))
    host.streams.stdout.write(text)
    return report.verdict
  })
