/**
 * `bun run faults [--rounds 50] [--seconds 600] [--only kill,freeze] [--database embedded,postgresql] [--seed N]`:
 * runs the faults of docs/internals/testing.md, "Fault tests". Prints a table, and exits with 1 if work was lost.
 */
import { parseArgs } from 'node:util'
import { type Faults, faults } from './faults.ts'
import { randomFrom, seedOf } from './random.ts'
import type { Kind } from './world.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string', default: '600' },
    only: { type: 'string' },
    database: { type: 'string', default: 'embedded,postgresql' },
    seed: { type: 'string' },
  },
})
const random = randomFrom(seedOf(values.seed))
const chosen = values.only?.split(',') ?? Object.keys(faults)
const kinds = values.database
  .split(',')
  .map((name): Kind => (name === 'embedded' ? name : 'postgresql'))
const unknown = chosen.filter((name) => !(name in faults))
if (unknown.length > 0) throw new Error(`${unknown}: there are ${Object.keys(faults)}`)

const rows: string[][] = [['fault', 'database', 'rounds', 'seconds', 'what was seen', 'verdict']]
process.stdout.write(`seed ${random.seed}\n`)
for (const name of chosen) {
  const { rounds, databases, run } = faults[name] as Faults[string]
  const count = Number(values.rounds ?? rounds)
  for (const kind of kinds.filter((each) => databases.includes(each))) {
    rows.push(await attempt(name, kind, count, run))
  }
}
const widths = (rows[0] ?? []).map((_, column) =>
  Math.max(...rows.map((row) => row[column]?.length ?? 0)),
)
for (const row of rows)
  process.stdout.write(
    `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`,
  )
process.exitCode = rows.slice(1).every((row) => row.at(-1) === 'good') ? 0 : 1

async function attempt(
  name: string,
  kind: Kind,
  rounds: number,
  run: Faults[string]['run'],
): Promise<string[]> {
  const began = performance.now()
  const result: { seen: string; verdict: string } = { seen: '', verdict: 'good' }
  try {
    const order = { kind, rounds, random, seconds: Number(values.seconds) }
    result.seen = await run(order, (line) => process.stdout.write(`${name} ${kind}: ${line}\n`))
  } catch (error) {
    process.stdout.write(`${name} ${kind}: ${error instanceof Error ? error.stack : error}\n`)
    result.verdict = `BAD: ${error}`.slice(0, 120)
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  return [name, kind, String(rounds), seconds, result.seen, result.verdict]
}
