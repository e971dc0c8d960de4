/** `bench start` measures the compiled executable: its size, the time until it answers, and its idle memory. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildExecutable } from '../../src/dev/build.ts'
import { getHealth } from '../../src/features/health/contract.ts'
import { startBenchCluster } from './cluster.ts'
import { figure, markdownTable, median } from './measure.ts'
import { freePort, residentMb, startProcess } from './processes.ts'
import { benchSettings } from './server.ts'

const ENTRY = join(import.meta.dir, '../../src/main.ts')
/** Memory is read after the runtime has had time to release what the start needed. */
const IDLE_MS = 5_000

type Start = { readyMs: number; idleMb: number }
type Kind = 'embedded, first' | 'embedded, later' | 'PostgreSQL, first' | 'PostgreSQL, later'

export async function benchStart(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: 'string', default: '5' }, executable: { type: 'string' } },
  })
  const directory = mkdtempSync(join(tmpdir(), 'cr-bench-start-'))
  const cluster = await startBenchCluster()
  try {
    const executable = values.executable ?? join(directory, 'cloakroom')
    if (!values.executable) await buildExecutable({ entry: ENTRY, outfile: executable })
    const starts = new Map<Kind, Start[]>()
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const embedded = { DATA_DIR: join(directory, `data-${round}`) }
      const server = await cluster.createDatabase()
      for (const [kind, env] of [
        ['embedded, first', embedded],
        ['PostgreSQL, first', server],
        ['embedded, later', embedded],
        ['PostgreSQL, later', server],
      ] satisfies [Kind, Record<string, string>][]) {
        starts.set(kind, [...(starts.get(kind) ?? []), await startOnce(executable, env)])
      }
    }
    process.stdout.write(`executable: ${(statSync(executable).size / 1e6).toFixed(0)} MB\n\n`)
    process.stdout.write(`${tableOf(starts)}\n`)
  } finally {
    await cluster.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

const keys = benchSettings()

/** From the start of the process to the first 200 of its health endpoint. */
async function startOnce(executable: string, env: Record<string, string>): Promise<Start> {
  const port = freePort()
  const url = `http://127.0.0.1:${port}${getHealth.path}`
  const started = performance.now()
  const settings = { ...keys, ...env, PORT: String(port) }
  const running = startProcess([executable, 'serve'], { env: settings, ready: /ready/ })
  while (!(await isHealthy(url))) await Bun.sleep(1)
  const readyMs = performance.now() - started
  const { pid, stop } = await running
  await Bun.sleep(IDLE_MS)
  const idleMb = residentMb(pid)
  await stop()
  return { readyMs, idleMb }
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { keepalive: false })).ok
  } catch {
    return false
  }
}

function tableOf(starts: ReadonlyMap<Kind, Start[]>): string {
  return markdownTable(
    ['start', 'first healthy answer, ms', 'idle RSS, MB'],
    [...starts].map(([kind, all]) => [
      kind,
      figure(median(all.map(({ readyMs }) => readyMs))),
      figure(median(all.map(({ idleMb }) => idleMb))),
    ]),
  )
}
