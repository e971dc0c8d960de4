/**
 * `bench large` measures backups, restores, moves and a rekey of a database after years of use, and their effect on
 * other requests. Takes gigabytes and minutes: docs/guides/scaling.md.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { type Subject, startSubject } from '../load/subject.ts'
import { startBenchCluster } from './cluster.ts'
import { figure, markdownTable, timed } from './measure.ts'
import { type Latencies, probing } from './prober.ts'
import { residentMb } from './processes.ts'
import { seedLarge } from './seed_large.ts'
import { serverCommand, startServer } from './server.ts'

const MB = 1024 * 1024
const LOOK_MS = 50
const QUIET_MS = 10_000

type Row = {
  what: string
  tookMs: number
  commandMb?: number
  serverMb?: number
  diskMb?: number
  fileMb?: number
  latencies?: Latencies
}

type Stage = {
  subject: Subject
  directory: string
  report(row: Row): void
}

const steps: Record<string, (stage: Stage) => Promise<void>> = {
  backup: backups,
  clock: backupByClock,
  restore,
  move,
  rekey,
}

export async function benchLarge(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      database: { type: 'string', default: 'embedded' },
      records: { type: 'string', default: '2000000' },
      secrets: { type: 'string', default: '100000' },
      versions: { type: 'string', default: '3' },
      only: { type: 'string', default: Object.keys(steps).join(',') },
    },
  })
  const database = values.database === 'embedded' ? 'embedded' : 'postgresql'
  const only = values.only.split(',')
  const directory = mkdtempSync(join(tmpdir(), 'cr-bench-large-'))
  const started = await startSubject({ database, processes: 1, coldTokens: 0 })
  const rows: Row[] = []
  try {
    await started.server.stop()
    const [records, secrets] = [Number(values.records), Number(values.secrets)]
    const wanted = { records, secrets, versions: Number(values.versions) }
    const workspaceId = started.writer.workspace.id
    const seeding = performance.now()
    const sizes = await seedLarge(started.env, { workspaceId, ...wanted })
    const seconds = figure((performance.now() - seeding) / 1000)
    say(`${database}: ${figure(sizes.database / MB)} MB in ${seconds} s;`)
    say(`a million records: ${figure(sizes.audit / MB / (records / 1e6))} MB;`)
    say(
      `a thousand secrets of ${wanted.versions} versions: ${figure(sizes.secrets / MB / (secrets / 1000))} MB\n\n`,
    )
    const report = (row: Row) => {
      rows.push(row)
      say(`${JSON.stringify(row)}\n`)
    }
    const subject = { ...started, server: await startServer(started.env) }
    const stage = { subject, directory, report }
    const { latencies } = await probing(subject, () => Bun.sleep(QUIET_MS))
    report({
      what: 'nothing',
      tookMs: QUIET_MS,
      serverMb: residentMb(subject.server.pid),
      latencies,
    })
    for (const step of only) await steps[step]?.(stage)
    await stage.subject.server.stop()
    say(`\n${tableOf(rows)}\n`)
  } finally {
    await started.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function backups({ subject, directory, report }: Stage): Promise<void> {
  const recipient = await identityToRecipient(await generateX25519Identity())
  for (const [what, options] of [
    ['backup', []],
    ['backup --recipient', ['--recipient', recipient]],
  ] as const) {
    const file = join(directory, what)
    const { result, ...probed } = await probing(subject, () =>
      command(subject, ['backup', file, ...options]),
    )
    report({ what, fileMb: statSync(file).size / MB, ...result, ...probed })
  }
}

/** The missed backup is made at the start. */
async function backupByClock(stage: Stage): Promise<void> {
  const folder = join(stage.directory, 'by the clock')
  mkdirSync(folder)
  await startAgain(stage, { BACKUP_DIR: folder })
  const made = () => readdirSync(folder).find((name) => name.endsWith('.backup'))
  const { pid } = stage.subject.server
  const { result, ...probed } = await probing(stage.subject, () =>
    watching([pid], async () => {
      while (!made()) await Bun.sleep(LOOK_MS)
    }),
  )
  const fileMb = statSync(join(folder, made() ?? '')).size / MB
  stage.report({ what: 'scheduled backup', fileMb, serverMb: result.most[0] ?? 0, ...probed })
}

async function restore({ subject, directory, report }: Stage): Promise<void> {
  const file = join(directory, 'backup')
  const target = join(directory, 'restored')
  const embedded = { ...keysOf(subject), DATA_DIR: target }
  report({ what: 'restore, embedded', ...(await alone(subject, embedded, ['restore', file])) })
  rmSync(target, { recursive: true, force: true })
  const cluster = await startBenchCluster()
  try {
    const server = { ...keysOf(subject), ...(await cluster.createDatabase()) }
    report({ what: 'restore, PostgreSQL', ...(await alone(subject, server, ['restore', file])) })
  } finally {
    await cluster.stop()
  }
}

async function move(stage: Stage): Promise<void> {
  const { subject, directory, report } = stage
  await subject.server.stop()
  const cluster = await startBenchCluster()
  try {
    const { DB_HOST = '', DB_NAME, DB_USER } = await cluster.createDatabase()
    const host = encodeURIComponent(DB_HOST)
    const url = `postgres://${DB_USER}@localhost/${DB_NAME}?host=${host}&sslmode=disable`
    const there = await alone(subject, subject.env, ['move', '--to', url])
    report({ what: `move from ${kindOf(subject)} to PostgreSQL`, ...there })
    const server = {
      DB_HOST,
      DB_NAME: DB_NAME ?? '',
      DB_USER: DB_USER ?? '',
      DB_SSLMODE: 'disable',
    }
    const target = join(directory, 'moved')
    const back = await alone(subject, { ...keysOf(subject), ...server }, ['move', '--to', target])
    report({ what: 'move from PostgreSQL to embedded', ...back })
    rmSync(target, { recursive: true, force: true })
  } finally {
    await cluster.stop()
  }
  await startAgain(stage, {})
}

async function rekey(stage: Stage): Promise<void> {
  const { ENCRYPTION_KEY = '' } = stage.subject.env
  const fresh = randomBytes(32).toString('base64url')
  await startAgain(stage, { ENCRYPTION_KEY: `${fresh},${ENCRYPTION_KEY}` })
  const { result, ...probed } = await probing(stage.subject, () =>
    command(stage.subject, ['rekey-outer']),
  )
  stage.report({ what: 'rekey-outer', ...result, ...probed })
}

async function startAgain(stage: Stage, settings: Record<string, string>): Promise<void> {
  await stage.subject.server.stop()
  const env = { ...stage.subject.env, ...settings }
  stage.subject = { ...stage.subject, env, server: await startServer(env) }
}

const kindOf = ({ cluster }: Subject) => (cluster ? 'PostgreSQL' : 'embedded')

function keysOf({ env }: Subject): Record<string, string> {
  return { SECRET_KEY: env.SECRET_KEY ?? '', ENCRYPTION_KEY: env.ENCRYPTION_KEY ?? '' }
}

/** Without other requests. */
async function alone(subject: Subject, env: Record<string, string>, args: string[]) {
  let measured: Partial<Row> = {}
  const tookMs = await timed(async () => {
    measured = await command({ ...subject, env }, args)
  })
  return { tookMs, ...measured }
}

/** @throws Error when it fails */
async function command({ env, server }: Subject, args: string[]) {
  const [bun = '', main = ''] = serverCommand()
  const child = Bun.spawn([bun, main, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const { most, diskMb } = await watching([child.pid, server.pid], () => child.exited)
  if (child.exitCode !== 0) throw new Error(await new Response(child.stderr).text())
  const [commandMb = 0, serverMb = 0] = most
  return { commandMb, serverMb, diskMb }
}

/** The highest memory of each process, and the highest disk usage of all meanwhile. */
async function watching(pids: readonly number[], work: () => Promise<unknown>) {
  const most = pids.map(() => 0)
  const free = freeMb()
  let least = free
  const timer = setInterval(() => {
    for (const [at, pid] of pids.entries()) most[at] = Math.max(most[at] ?? 0, residentMb(pid) || 0)
    least = Math.min(least, freeMb())
  }, LOOK_MS)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return { most, diskMb: free - least }
}

function freeMb(): number {
  const { bavail, bsize } = statfsSync(tmpdir())
  return (bavail * bsize) / MB
}

function tableOf(rows: readonly Row[]): string {
  const kinds = Object.keys(rows[0]?.latencies ?? {})
  const columns = ['s', 'command MB', 'server MB', 'disk MB', 'file MB']
  const head = ['', ...columns, ...kinds.map((kind) => `${kind}: p50, p99, most ms (failed)`)]
  return markdownTable(
    head,
    rows.map(({ what, tookMs, commandMb, serverMb, diskMb, fileMb, latencies }) => [
      what,
      figure(tookMs / 1000),
      ...[commandMb, serverMb, diskMb, fileMb].map((value) => figure(value || Number.NaN)),
      ...kinds.map((kind) => {
        const { p50, p99, most, failed } = latencies?.[kind] ?? {}
        if (p50 === undefined || p99 === undefined || most === undefined) return '–'
        return `${[p50, p99, most].map(figure).join(', ')} (${failed})`
      }),
    ]),
  )
}

function say(text: string): void {
  process.stdout.write(text)
}
