// tier: quick
/** A collector that is unavailable, slow or hostile causes the loss of spans, and no other effect. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createAuthority } from '../../../src/cli/demo/certificates.ts'
import { readConfig } from '../../../src/core/config/config.ts'
import { openLog } from '../../../src/core/log.ts'
import { Exporter } from '../../../src/core/trace/exporter.ts'
import type { Ended } from '../../../src/core/trace/span.ts'
import { openTracer } from '../../../src/core/trace/tracer.ts'
import { keepingIn } from '../../support/app.ts'
import { type Collector, startCollector } from '../../support/collector.ts'
import { FakeTimers, settle } from '../../support/fake_timers.ts'
import { until } from '../../support/until.ts'

let collector: Collector
let exporter: Exporter
let logs: string[]
let timers: FakeTimers

beforeEach(() => {
  collector = startCollector()
  logs = []
  const headers = { authorization: 'Bearer of-the-collector' }
  const to = { url: `${collector.origin}/v1/traces`, headers, serviceName: 'test' }
  timers = new FakeTimers()
  exporter = new Exporter(to, openLog('info', keepingIn(logs)), timers)
})
afterEach(async () => {
  await exporter.close(100)
  await collector.stop()
})

const span: Ended = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  parentId: null,
  name: 'a span',
  kind: 'internal',
  from: 1_700_000_000_000.25,
  to: 1_700_000_000_001.5,
  attributes: { text: 'a', count: 1, share: 0.5, is: true, none: null },
  events: [{ name: 'first byte', at: 1_700_000_000_001 }],
  isError: false,
}
const add = (count: number) => {
  for (let index = 0; index < count; index += 1) exporter.add(span)
}

test('spans arrive unchanged, in batches', async () => {
  add(600)
  await exporter.flush()
  expect(collector.requests.length).toBe(2)
  expect(collector.spans.length).toBe(600)
  expect(collector.spans[0]).toMatchObject({
    startTimeUnixNano: '1700000000000250000',
    endTimeUnixNano: '1700000000001500000',
    attributes: { text: 'a', count: 1, share: 0.5, is: true },
  })
  expect(exporter.counts).toEqual({ exported: 600, dropped: 0, failed: 0 })
})

test('a collector that does not answer delays nothing: the queue is bounded, and so is the stop', async () => {
  const never = Promise.withResolvers<Response>()
  collector.answer = () => never.promise
  add(10_000)
  expect(exporter.waiting).toBeLessThanOrEqual(2048)
  expect(exporter.counts.dropped).toBeGreaterThanOrEqual(10_000 - 2048 - 512)
  await exporter.close(50)
  expect(exporter.waiting).toBe(0)
  never.resolve(new Response())
})

test('an endless answer is not read', async () => {
  let pulled = 0
  collector.answer = () =>
    new Response(
      new ReadableStream({
        pull: async (controller) => {
          pulled += 1
          await settle()
          controller.enqueue(new Uint8Array(65_536))
        },
      }),
    )
  add(1)
  await exporter.flush()
  expect(exporter.counts.exported).toBe(1)
  expect(pulled).toBeLessThan(1000)
})

test('a redirect is not followed, and the headers are sent nowhere else', async () => {
  const other = startCollector()
  collector.answer = () => Response.redirect(`${other.origin}/v1/traces`, 307)
  add(3)
  await exporter.flush()
  expect(other.requests).toEqual([])
  expect(exporter.counts).toEqual({ exported: 0, dropped: 0, failed: 3 })
  expect(logs.length).toBe(1)
  expect(logs[0]).toContain('traces could not be exported')
  expect(logs.join()).not.toContain('of-the-collector')
  await other.stop()
})

test('a collector that requests a delay gets the batch again a second later', async () => {
  let refused = 0
  collector.answer = () => {
    refused += 1
    collector.answer = null
    return new Response('', { status: 503 })
  }
  add(1)
  const flushed = exporter.flush()
  await timers.expire(1_000)
  await flushed
  expect(refused).toBe(1)
  expect(exporter.counts).toEqual({ exported: 1, dropped: 0, failed: 0 })
})

test('a collector with its own certificate is trusted by the named authority, and by no other', async () => {
  const [authority, another] = [await createAuthority('Ours'), await createAuthority('Another')]
  const received: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: await authority.issue(['localhost']),
    fetch: async (request) => {
      received.push(await request.text())
      return Response.json({})
    },
  })
  const url = `https://localhost:${server.port}/v1/traces`
  for (const ca of [undefined, another.certificate, authority.certificate]) {
    const to = { url, headers: {}, serviceName: 'test', ca }
    const one = new Exporter(to, openLog('info', keepingIn(logs)))
    one.add(span)
    const isTrusted = ca === authority.certificate
    const sent = one.flush()
    if (isTrusted) await sent
    else await until(() => logs.join().includes('could not be exported'))
    logs.length = 0
    await one.close(0)
    expect(one.counts.exported).toBe(isTrusted ? 1 : 0)
    expect(received.length).toBe(isTrusted ? 1 : 0)
  }
  await server.stop(true)
})

test('an unreadable certificate of the collector is an invalid setting', () => {
  const KEYS = {
    SECRET_KEY: 'test-secret-key-test-secret-key-test',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
  }
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere/ca.pem',
  }
  expect(() =>
    openTracer(
      readConfig(env, () => KEYS),
      openLog('info', keepingIn(logs)),
    ),
  ).toThrow(/^OTEL_EXPORTER_OTLP_CERTIFICATE: is not a readable PEM file/)
})
