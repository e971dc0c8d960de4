// tier: quick
/** `call --trace`: the API's header, the collector's spans and the printed ID are one trace. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { type Collector, type SentSpan, startCollector } from '../support/collector.ts'
import { openAccount, type Terminal } from './person.ts'

const VALUE = marked('sk_live_traced_call')

let collector: Collector
let stage: Stage
let ada: Terminal
let token: string

beforeAll(async () => {
  collector = startCollector()
  stage = await openStage({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin } })
  ada = await openAccount(stage.app, 'ada@example.com')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`, '--sensitive')
  await ada.must('allowlist', 'add', stage.authorityOf())
  token = (await ada.must('agent', 'create', 'bot', '-q')).trim()
}, 60_000)
afterAll(async () => {
  ada.remove()
  await stage.stop()
  await collector.stop()
})

const as = () => ({ env: { SERVICE_TOKEN: token } })
const call = (...args: string[]) =>
  ada.run(['call', stage.url('/'), '-H', 'X-Key: SVC_SECRET_STRIPE_KEY', ...args], as())
const lastTraceparent = () => stage.upstream.received.at(-1)?.header('traceparent')

/** The spans that arrived since the last call. */
async function spansNow(): Promise<SentSpan[]> {
  await stage.app.tracer?.flush()
  return collector.spans.splice(0)
}

test('the API and the collector receive the trace with the printed ID', async () => {
  await spansNow()
  const { code, err } = await call('--trace')
  const [, id = ''] = /^trace ([0-9a-f]{32})\n$/.exec(err) ?? []
  expect({ code, err }).toEqual({ code: 0, err: `trace ${id}\n` })
  const spans = await spansNow()
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([id]))
  const [span] = spans.filter(({ name }) => name === 'call')
  expect(lastTraceparent()).toBe(`00-${id}-${span?.spanId}-01`)
})

test('each call is a separate trace', async () => {
  const [one, other] = [await call('--trace'), await call('--trace')]
  expect(one.err).not.toBe(other.err)
})

test('with --json the output has the trace ID', async () => {
  const { out, err } = await call('--trace', '--json')
  const { trace_id: id, status_code } = JSON.parse(out)
  expect([status_code, err]).toEqual([200, ''])
  expect(lastTraceparent()).toStartWith(`00-${id}-`)
})

test('the trace ID of a rejected call is printed too', async () => {
  await spansNow()
  const { code, err } = await ada.run(['call', 'https://elsewhere.example/', '--trace'], as())
  const [, id] =
    /^trace ([0-9a-f]{32})\ncloakroom: .*\(domain_blocked\)\n→ run: .*\n→ details: .*\n$/.exec(
      err,
    ) ?? []
  expect(code).toBe(5)
  expect((await spansNow()).map(({ traceId }) => traceId)).toContain(`${id}`)
})

test('without --trace the API receives no trace header and no ID is printed', async () => {
  expect(await call()).toMatchObject({ code: 0, err: '' })
  expect(lastTraceparent()).toBeUndefined()
  expect(JSON.parse((await call('--json')).out)).not.toHaveProperty('trace_id')
})

test('call suggests the near secret for a mistyped placeholder, and no command that stores the typo', async () => {
  const callWith = (name: string) =>
    ada.run(['call', stage.url('/'), '-H', `X-Key: SVC_SECRET_${name}`, '-e', 'development'], as())
  const near = await callWith('STRIPE_KE')
  expect(near.err).toContain('No secret STRIPE_KE is available to this token. Is it STRIPE_KEY?')
  expect(near.err).not.toContain('secrets set')
  const far = await callWith('OTHER')
  expect(far.err).toContain('→ run: cloakroom secrets set OTHER -e development')
})
