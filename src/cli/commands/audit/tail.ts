import { printableJson } from '../../../core/printable.ts'
import { auditColumns, auditRow, filtersOf, page } from '../../audit.ts'
import { command } from '../../command.ts'
import { filterOptions } from '../../options.ts'
import { projectNames, workspaceScope } from '../../scope.ts'
import { cell, type Row } from '../../terminal/table.ts'

/** Prints new records until it is interrupted. */
export default command({
  usage: 'tail',
  examples: ['audit tail'],
  options: [...filterOptions],
  action: async (context, _, options) => {
    const scope = await workspaceScope(context)
    const projects = await projectNames(scope)
    let since = options.since ?? new Date().toISOString()
    const seen = new Set<string>()
    while (true) {
      const records = (await page(scope, { ...filtersOf(options), since, limit: 500 })).filter(
        ({ id }) => !seen.has(id),
      )
      for (const record of records.reverse()) {
        seen.add(record.id)
        since = record.timestamp
        context.output.raw(
          context.output.isJson
            ? `${printableJson(record)}\n`
            : `${lineOf(auditRow(record, projects))}\n`,
        )
      }
      await Bun.sleep(TAIL_MS)
    }
  },
})

const TAIL_MS = 1000

function lineOf(row: Row): string {
  return auditColumns
    .map((column) => cell(row[typeof column === 'string' ? column : column.field]))
    .join('  ')
}
