// tier: all
/** SIGUSR1: a process reports its state, without a secret, and never at the cost of its work. */
import { expect, test } from 'bun:test'
import {
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openLog } from '../../src/core/log.ts'
import { writeReport } from '../../src/operator/report.ts'
import { keepingIn, startTestApp } from '../support/app.ts'
import { marked, search } from '../support/canary.ts'
import { startServer } from '../support/server_process.ts'
import { until } from '../support/until.ts'

const SECRET = marked('cron-secret-of-a-report')

test('many signals write one report without secrets, which only its user may read', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'cr-report-'))
  const env = {
    DATA_DIR: directory,
    CRON_SECRET: SECRET,
    OTEL_EXPORTER_OTLP_HEADERS: `a=${SECRET}`,
  }
  const server = await startServer(env)
  for (let count = 0; count < 20; count += 1) server.kill('SIGUSR1')
  await until(() => server.output().includes('an error report was written'))
  expect((await fetch(`${server.controlPlane}/api/status/health/`)).status).toBe(200)
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  const [name = '', ...others] = readdirSync(directory).filter((one) => one.includes('report'))
  expect(others).toEqual([])
  expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
  const text = readFileSync(join(directory, name), 'utf8')
  search('output', 'a report', text)
  const keys = readFileSync(join(directory, 'keys.env'), 'utf8').match(/=(\S{20,})/g) ?? []
  expect(keys.length).toBeGreaterThan(0)
  for (const key of keys) expect(text.includes(key.slice(1))).toBe(false)
  const report = JSON.parse(text)
  expect(report).toMatchObject({
    pid: server.pid,
    settings: { CRON_SECRET: '[redacted]', SECRET_KEY: '[redacted]', DATA_DIR: directory },
    audit_queue: { entries: 0 },
    open_calls: { calls: 0, workspaces: 0 },
    database: { kind: 'embedded' },
    traces: null,
  })
  expect(report.environment).toContain('CRON_SECRET')
  expect(report.database.migrations.length).toBeGreaterThan(10)
  expect(report.keys.SECRET_KEY[0]).toMatch(/^[0-9a-f]{8}$/)
  rmSync(directory, { recursive: true })
}, 60_000)

test('the newest five reports are kept wherever they are written, and other files stay', async () => {
  const app = await startTestApp()
  const directory = mkdtempSync(join(tmpdir(), 'cr-report-'))
  const { TMPDIR = '' } = process.env
  const old = Array.from({ length: 8 }, (_, at) => `cloakroom-report-100000000000${at}-1.json`)
  const notOurs = ['cloakroom-report-1-1.json.gz', 'notes']
  const isRoot = process.getuid?.() === 0
  if (isRoot) notOurs.push('cloakroom-report-1-1.json')
  for (const name of [...old, ...notOurs]) writeFileSync(join(directory, name), '')
  if (isRoot) chownSync(join(directory, 'cloakroom-report-1-1.json'), 65_534, 65_534)
  try {
    process.env.TMPDIR = directory
    const written = await writeReport({
      ...app,
      connection: { ...app.connection, kind: 'postgresql' as const },
      log: openLog('info', keepingIn([])),
      problems: () => [],
    })
    const expected = [...notOurs, ...old.slice(-4), basename(written ?? '')]
    expect(readdirSync(directory).sort()).toEqual(expected.sort())
  } finally {
    if (TMPDIR) process.env.TMPDIR = TMPDIR
    else delete process.env.TMPDIR
    rmSync(directory, { recursive: true })
    await app.stop()
  }
}, 60_000)

test('a report that cannot be written becomes a log line, and a long one is truncated', async () => {
  const app = await startTestApp()
  const logs: string[] = []
  const directory = mkdtempSync(join(tmpdir(), 'cr-report-'))
  const connection = { ...app.connection, kind: 'embedded' as const }
  const reported = { ...app, connection, log: openLog('info', keepingIn(logs)) }
  const config = { ...app.config, DATA_DIR: '/proc' }
  expect(await writeReport({ ...reported, config, problems: () => [] })).toBeNull()
  expect(logs[0]).toContain('an error report could not be written')
  const problems = () => Array.from({ length: 50 }, () => 'x'.repeat(20_000))
  const path = await writeReport({
    ...reported,
    config: { ...config, DATA_DIR: directory },
    problems,
  })
  expect(statSync(path ?? '').size).toBeLessThan(262_144)
  rmSync(directory, { recursive: true })
  await app.stop()
}, 60_000)
