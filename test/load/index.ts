/**
 * `bun run load [options]`: mixed traffic against real processes, for minutes, and a verdict: exit code 1 when memory
 * or open files grow, or requests fail. --sizing runs each kind alone, on 1, 2 … processes: docs/guides/scaling.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { judge } from './judge.ts'
import { csvOf, pictureOf, reportOf, tableOf } from './report.ts'
import { run } from './run.ts'
import { sizing } from './sizing.ts'
import { KEY_CACHE_SECONDS, startSubject } from './subject.ts'
import { coldTokensFor, type Kind, kinds } from './traffic.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    processes: { type: 'string', default: '1' },
    database: { type: 'string', default: 'postgresql' },
    connections: { type: 'string', default: '16' },
    executable: { type: 'string' },
    out: { type: 'string', default: 'dist/load' },
    sizing: { type: 'boolean', default: false },
    kinds: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
    seconds: { type: 'string', default: '5' },
    warm: { type: 'string', default: '5' },
  },
})
const database = values.database === 'embedded' ? 'embedded' : 'postgresql'
const connections = Number(values.connections)
const executable = values.executable
const settings = Object.fromEntries(values.set.map((text) => text.split(/=(.*)/s)))

process.exitCode = values.sizing ? await size() : await load()

async function load(): Promise<number> {
  const subject = await startSubject({
    database,
    processes: Number(values.processes),
    coldTokens: coldTokensFor(KEY_CACHE_SECONDS),
    executable,
    settings,
  })
  try {
    const seconds = Number(values.minutes) * 60
    const outcome = await run(subject, { seconds, driven: 'resolve', connections, isMixed: true })
    const tallies = [...outcome.tallies.values()]
    const verdicts = judge(outcome.samples, {
      answers: tallies.reduce((sum, { answers }) => sum + answers.length, 0),
      failures: tallies.reduce((sum, { failed }) => sum + failed, 0),
    })
    const report = reportOf(outcome, `bun run load ${process.argv.slice(2).join(' ')}`, verdicts)
    mkdirSync(values.out, { recursive: true })
    writeFileSync(join(values.out, 'load.json'), JSON.stringify(report, null, 1))
    writeFileSync(join(values.out, 'load.csv'), csvOf(report))
    writeFileSync(join(values.out, 'load.svg'), pictureOf(report))
    process.stdout.write(`${tableOf(report)}\n\n`)
    for (const { what, isGood, why } of verdicts)
      process.stdout.write(`${isGood ? 'good' : 'BAD'}  ${what}: ${why}\n`)
    return verdicts.every(({ isGood }) => isGood) ? 0 : 1
  } finally {
    await subject.stop()
  }
}

async function size(): Promise<number> {
  const wanted = values.kinds?.split(',') ?? kinds
  const table = await sizing({
    database,
    executable,
    settings,
    connections,
    processes: values.processes.split(',').map(Number),
    kinds: kinds.filter((kind): kind is Kind => wanted.includes(kind)),
    seconds: Number(values.seconds),
    warmSeconds: Number(values.warm),
  })
  process.stdout.write(`${table}\n`)
  return 0
}
