// tier: all
/**
 * docs/deploy/prometheus.yml with the real Prometheus: it scrapes a server, loads the alerts, and answers the
 * dashboard.
 */
import { expect } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { watched } from '../support/watched.ts'
import { freePort, replaced } from './fronts.ts'

const { afterAll, beforeAll, test } = requires('prometheus')

const DEPLOY = join(import.meta.dir, '../../docs/deploy')
const DASHBOARD = join(import.meta.dir, '../../docs/grafana-dashboard.json')

let stage: Stage
let agent: Agent
let directory: string
let origin: string
let child: Bun.Subprocess

beforeAll(async () => {
  stage = await openStage({ env: { ADMIN_PORT: '0', ALLOWED_HOSTS: 'localhost,127.0.0.1' } })
  agent = await createAgentWithToken(stage, {})
  directory = mkdtempSync(join(tmpdir(), 'cr-prometheus-'))
  const example = readFileSync(join(DEPLOY, 'prometheus.yml'), 'utf8')
  const text = replaced(example, [
    ['scrape_interval: 15s', 'scrape_interval: 1s\n  evaluation_interval: 1s'],
    ['127.0.0.1:9464', new URL(stage.app.admin ?? '').host],
  ])
  writeFileSync(join(directory, 'prometheus.yml'), text)
  cpSync(join(DEPLOY, 'prometheus_alerts.yaml'), join(directory, 'prometheus_alerts.yaml'))
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  child = watched(
    Bun.spawn(
      [
        'prometheus',
        '--config.file=prometheus.yml',
        `--web.listen-address=127.0.0.1:${port}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
      ],
      { cwd: directory, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    ),
  )
}, 60_000)
afterAll(async () => {
  child?.kill('SIGTERM')
  await child?.exited
  rmSync(directory, { recursive: true, force: true })
  await stage?.stop()
})

type Answer = { status: string; data: { result: { value: [number, string] }[] } }

async function ask<T = Answer>(path: string): Promise<T | null> {
  const response = await fetch(`${origin}${path}`).catch(() => null)
  // Prometheus answers 503 with text until it is ready.
  return response?.ok ? ((await response.json()) as T) : null
}

const query = (expression: string) => ask(`/api/v1/query?query=${encodeURIComponent(expression)}`)

async function untilValue(expression: string, value: string): Promise<void> {
  const look = async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}`)
    return (await query(expression))?.data?.result[0]?.value[1] === value
  }
  await until(look, { stepMs: 100 })
}

test("Prometheus scrapes the server, and an agent's call counts", async () => {
  await untilValue('up{job="cloakroom"}', '1')
  const body = { target_url: stage.url('/'), headers: {} }
  expect((await agent.resolve(body)).status).toBe(200)
  await untilValue('sum(cloakroom_resolver_decisions_total{decision="allowed"})', '1')
}, 60_000)

test('Prometheus loads every alert, and none is broken', async () => {
  type Rules = { data: { groups: { rules: { name: string; health: string }[] }[] } }
  const rules = (await ask<Rules>('/api/v1/rules'))?.data.groups.flatMap(({ rules }) => rules) ?? []
  const written = readFileSync(join(DEPLOY, 'prometheus_alerts.yaml'), 'utf8').match(/alert: /g)
  expect(rules.length).toBe(written?.length ?? 0)
  expect(rules.filter(({ health }) => health === 'err')).toEqual([])
})

test('Prometheus answers each query of the dashboard', async () => {
  const expressions = [...readFileSync(DASHBOARD, 'utf8').matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)]
  expect(expressions.length).toBeGreaterThan(10)
  for (const [, text = ''] of expressions) {
    const expression = (JSON.parse(text) as string).replace(/\$__(rate_)?interval/g, '1m')
    const answer = await query(expression.replace(/\$\w+/g, '.*'))
    expect({ expression, status: answer?.status }).toEqual({ expression, status: 'success' })
  }
})
