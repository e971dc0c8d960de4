/** Runs the clients, one cell after the other, and reports the results. */
import { runCell, type Verdict } from './cell.ts'
import { actions, type Cell, type Client, ways } from './client.ts'
import { readRows, rowOf, type Verdicts, writeRows } from './document.ts'
import { install } from './install.ts'
import { openStage, type Stage } from './stage.ts'
import { clients } from './table/index.ts'

/** Programs with a built-in host need it; only root may listen there. */
const HTTPS = 443

/** @returns the number of cells that differ from the table */
export async function runMatrix(words: readonly string[], isRemote: boolean): Promise<number> {
  const chosen = clients.filter(({ name, language }) =>
    [words.length === 0, ...words.map((word) => `${language}: ${name}`.includes(word))].includes(
      true,
    ),
  )
  const commandOf = await install(chosen)
  const stage = await openStage({ port: HTTPS, isRemote, searchesMemory: true })
  const rows = readRows(clients)
  let unexpected = 0
  try {
    for (const client of chosen) {
      const verdicts = await runClient(stage, client, commandOf(client))
      unexpected += report(client, verdicts)
      rows.set(client, rowOf(client, verdicts))
      // An interrupted run keeps its results.
      if (!isRemote) writeRows(clients, rows)
    }
  } finally {
    await stage.close()
  }
  if (!isRemote) process.stdout.write(`\n${writeRows(clients, rows)}\n`)
  return unexpected
}

export async function runClient(
  stage: Stage,
  client: Client,
  command: readonly string[],
): Promise<Verdicts> {
  const verdicts = new Map<Cell, Verdict>()
  for (const way of ways)
    for (const action of actions)
      verdicts.set(`${way} ${action}`, await runCell(stage, client, command, way, action))
  return verdicts
}

function report({ name, language, fails = {} }: Client, verdicts: Verdicts): number {
  const unexpected = [...verdicts].flatMap(([cell, verdict]) => {
    const isWrong = typeof verdict === 'object' && 'wrong' in verdict
    if (isWrong && verdict.wrong.includes('canary')) return [`${cell}: ${verdict.wrong}`]
    if (isWrong ? fails[cell] !== undefined : verdict !== 'ok' || fails[cell] === undefined)
      return []
    return [`${cell}: ${isWrong ? verdict.wrong : 'passes, against the table'}`]
  })
  process.stdout.write(
    `${language}: ${name}: ${unexpected.length === 0 ? 'as the table says' : ''}\n`,
  )
  for (const line of unexpected) process.stdout.write(`    ${line}\n`)
  return unexpected.length
}
