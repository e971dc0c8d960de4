import { auditColumns, auditRow, filtersOf, page } from '../../audit.ts'
import { command } from '../../command.ts'
import { filterOptions } from '../../options.ts'
import { projectNames, workspaceScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'

export default command({
  usage: 'list',
  examples: [
    'audit list --agent deploy-bot',
    'audit list --actor ada@example.com --action secret.read',
    'audit list --status 403 --json',
  ],
  options: [['--limit <count>', '1 to 500', '50'], ...filterOptions],
  action: async (context, _, options) => {
    const limit = /^\d{1,3}$/.test(options.limit) ? Number(options.limit) : 0
    if (limit < 1 || limit > 500) throw new CliError('usage', '--limit is a number from 1 to 500')
    const scope = await workspaceScope(context)
    const records = await page(scope, { ...filtersOf(options), limit })
    const projects = context.output.isJson ? new Map() : await projectNames(scope)
    const rows = records.map((record) => auditRow(record, projects))
    context.output.table(rows, auditColumns, records, 'id')
  },
})
