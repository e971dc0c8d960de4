// tier: all
/**
 * docs/deploy/prometheus_alerts.yaml, tested by Prometheus's promtool: each alert fires for its condition, and not
 * next to it.
 */
import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { Registry } from 'prom-client'
import { parse, stringify } from 'yaml'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { openGauges } from '../../src/features/metrics/gauges.ts'
import { openInstruments } from '../../src/features/metrics/instruments.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'

const ROOT = join(import.meta.dir, '..', '..')
const FILE = join(ROOT, 'docs/deploy/prometheus_alerts.yaml')

type Rule = { alert: string; expr: string; annotations: { summary: string; runbook: string } }
const rules: Rule[] = parse(readFileSync(FILE, 'utf8')).groups[0].rules

/** Series with their values, a minute apart unless `interval` differs, and the time of evaluation. */
type Case = { fires: Series; not: Series; at: string; interval?: string }
type Series = Record<string, string>

const REQUESTS = 'cloakroom_http_requests_total'
const DECISIONS = 'cloakroom_resolver_decisions_total'
const BUCKET = 'cloakroom_http_request_duration_seconds_bucket'
const slow = (fast: number) => ({
  [`${BUCKET}{listener="control-plane",le="1"}`]: `0+${fast}x60`,
  [`${BUCKET}{listener="control-plane",le="2.5"}`]: '0+100x60',
  [`${BUCKET}{listener="control-plane",le="+Inf"}`]: '0+100x60',
})
const shares = (name: string, one: string, share: number, other: string, otherShare: number) => ({
  [`${name}{${one}}`]: `0+${share}x60`,
  [`${name}{${other}}`]: `0+${otherShare}x60`,
})
const gauge = (name: string, over: string, under: string, at = '30m'): Case => ({
  fires: { [name]: `${over}x60` },
  not: { [name]: `${under}x60` },
  at,
})
const counter = (name: string, at = '30m'): Case => gauge(name, '0+1', '7+0', at)

const cases: Record<string, Case> = {
  CloakroomDown: gauge('up{job="cloakroom"}', '0+0', '1+0'),
  CloakroomServerErrors: {
    fires: shares(
      REQUESTS,
      'listener="resolver",status="503"',
      5,
      'listener="resolver",status="200"',
      95,
    ),
    not: shares(
      REQUESTS,
      'listener="resolver",status="403"',
      50,
      'listener="resolver",status="200"',
      50,
    ),
    at: '30m',
  },
  CloakroomSlow: { fires: slow(80), not: slow(99), at: '30m' },
  CloakroomDatabaseAway: gauge('cloakroom_database_up', '0+0', '1+0'),
  CloakroomDatabaseSlow: gauge('cloakroom_database_ping_seconds', '0.6+0', '0.4+0'),
  CloakroomAuditWaits: gauge('cloakroom_audit_queue_depth{kind="intents"}', '1001+0', '1000+0'),
  CloakroomAuditFails: counter('cloakroom_audit_write_failures_total{kind="intents"}'),
  CloakroomAuditRefused: counter('cloakroom_audit_refused_total'),
  CloakroomUnverifiedState: counter('cloakroom_unverified_state_total'),
  CloakroomRefusals: {
    fires: shares(DECISIONS, 'decision="blocked"', 30, 'decision="allowed"', 70),
    not: shares(DECISIONS, 'decision="blocked"', 10, 'decision="allowed"', 90),
    at: '30m',
  },
  CloakroomPasswordWaits: gauge(
    `${REQUESTS}{route="/api/auth/login/",status="429"}`,
    '0+10',
    '0+1',
  ),
  CloakroomDiskFull: gauge('cloakroom_data_free_bytes', '900000000+0', '1100000000+0'),
  CloakroomBackupOld: {
    fires: { cloakroom_backup_last_timestamp_seconds: '0+0x80' },
    not: { cloakroom_backup_last_timestamp_seconds: '0+3600x80' },
    at: '60h',
    interval: '1h',
  },
  CloakroomBackupFailed: counter('cloakroom_backups_total{outcome="failed"}'),
  CloakroomTokensExpire: gauge('cloakroom_tokens_expiring', '3+0', '0+0', '61m'),
  CloakroomKeysMixed: {
    fires: { cloakroom_token_key_ids: '2+0x800' },
    not: { cloakroom_token_key_ids: '2+0x400 1+0x400' },
    at: '750h',
    interval: '1h',
  },
  CloakroomVersionsMixed: {
    fires: {
      'cloakroom_build_info{version="1"}': '1+0x90',
      'cloakroom_build_info{version="2"}': '1+0x90',
    },
    not: {
      'cloakroom_build_info{version="1",instance="a"}': '1+0x90',
      'cloakroom_build_info{version="1",instance="b"}': '1+0x90',
    },
    at: '80m',
  },
  CloakroomSpansLost: counter('cloakroom_trace_spans_total{outcome="dropped"}', '45m'),
  CloakroomOpenFiles: {
    fires: {
      'process_open_fds{job="cloakroom"}': '900+0x60',
      'process_max_fds{job="cloakroom"}': '1000+0x60',
    },
    not: {
      'process_open_fds{job="cloakroom"}': '700+0x60',
      'process_max_fds{job="cloakroom"}': '1000+0x60',
    },
    at: '30m',
  },
  CloakroomBusy: gauge('nodejs_eventloop_lag_p99_seconds{job="cloakroom"}', '0.6+0', '0.4+0'),
}

requires('prometheus').test(
  'each alert fires for what it is about, and not beside it',
  async () => {
    expect(Object.keys(cases)).toEqual(rules.map(({ alert }) => alert))
    const directory = mkdtempSync(join(tmpdir(), 'cr-alerts-'))
    expect(await promtool('check', 'rules', FILE)).toBe(0)
    // Weeks are evaluated once an hour.
    for (const interval of ['1m', '1h']) {
      const tests = rules.flatMap((rule) => scenariosOf(rule, interval))
      const file = join(directory, `${interval}.yaml`)
      writeFileSync(file, stringify({ rule_files: [FILE], evaluation_interval: interval, tests }))
      expect(await promtool('test', 'rules', file)).toBe(0)
    }
    rmSync(directory, { recursive: true })
  },
  60_000,
)

function scenariosOf({ alert }: Rule, interval: string): object[] {
  const one = cases[alert]
  if (!one || (one.interval ?? '1m') !== interval) return []
  const scenario = (series: Series, count: number) => ({
    name: `${alert}, ${count}`,
    interval,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
        eval_time: one.at,
        exp_samples: [{ labels: '{}', value: count }],
      },
    ],
  })
  return [scenario(one.fires, 1), scenario(one.not, 0)]
}

/** Runs promtool of Debian's package prometheus (`.ci/run` installs it). */
async function promtool(...args: string[]): Promise<number> {
  const child = watched(Bun.spawn(['promtool', ...args], { stdout: 'pipe', stderr: 'pipe' }))
  const said = await Promise.all(
    [child.stdout, child.stderr].map((one) => new Response(one).text()),
  )
  const code = await child.exited
  if (code !== 0) console.error(said.join('\n'))
  return code
}

test('the series in the alert rules exist, and the texts of the rules have their values', () => {
  const registry = new Registry()
  const cache = { stats: { hits: 0, misses: 0, entries: 0 } }
  openInstruments(registry)
  openGauges(registry, {
    sql: postgres(),
    trail: { depth: { entries: 0, outcomes: 0 } },
    ...{ tokens: cache, snapshots: cache, keys: cache, refusals: { count: 0 } },
  })
  const known = registry.getMetricsAsArray().map(({ name }) => name)
  const asked = rules.flatMap(({ expr }) => expr.match(/\b(cloakroom|process|nodejs)_\w+/g) ?? [])
  const missing = asked.filter((name) => !known.includes(name.replace(/_bucket$/, '')))
  expect(missing).toEqual([])
  const routes = new Set<string>(
    listAllEndpoints().flatMap(({ endpoints }) => endpoints.map(({ path }) => path)),
  )
  for (const { expr } of rules)
    for (const [, route = ''] of expr.matchAll(/route="([^"]+)"/g)) expect(routes).toContain(route)
  const page = readFileSync(join(ROOT, 'docs/guides/monitoring.md'), 'utf8')
  const headings = [...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
  expect(headings).toEqual(rules.map(({ alert }) => alert))
  for (const { alert, annotations } of rules)
    expect(annotations.runbook).toBe(`docs/guides/monitoring.md#${alert.toLowerCase()}`)
})
