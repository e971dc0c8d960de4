/** SIGUSR1: what a process knows of itself, without a secret, and never at the cost of what it does. */
import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLog } from '../../src/platform/log.ts'
import { writeReport } from '../../src/server/report.ts'
import { keepingIn, startTestApp } from '../support/app.ts'
import { marked, search } from '../support/canary.ts'
import { startServer } from '../support/server_process.ts'

const SECRET = marked('cron-secret-of-a-report')

test('many signals write one report, which only its user may read and which has no secret', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'cr-report-'))
  const env = {
    DATA_DIR: directory,
    CRON_SECRET: SECRET,
    OTEL_EXPORTER_OTLP_HEADERS: `a=${SECRET}`,
  }
  const server = await startServer(env)
  for (let count = 0; count < 20; count += 1) server.kill('SIGUSR1')
  while (!server.output().includes('a report was written')) await Bun.sleep(20)
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

test('a report that cannot be written is a line of the log, and one too long is cut', async () => {
  const app = await startTestApp()
  const logs: string[] = []
  const directory = mkdtempSync(join(tmpdir(), 'cr-report-'))
  const connection = { ...app.connection, kind: 'embedded' as const }
  const reported = { ...app, connection, log: openLog('info', keepingIn(logs)) }
  const config = { ...app.config, DATA_DIR: '/proc' }
  expect(await writeReport({ ...reported, config, problems: () => [] })).toBeNull()
  expect(logs[0]).toContain('a report could not be written')
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
