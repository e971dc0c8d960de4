// tier: all
/** Every wait that tests elsewhere let pass on fake timers also passes on the real clock. */
import { afterAll, expect } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { KeyCache } from '../../src/access/keys.ts'
import type { SnapshotCache } from '../../src/access/snapshots/snapshots.ts'
import type { LiveToken } from '../../src/access/tokens.ts'
import { prepareMask } from '../../src/cli/terminal/mask.ts'
import { systemTimers } from '../../src/core/async/timers.ts'
import { systemClock } from '../../src/core/clock.ts'
import { Fault } from '../../src/core/fault.ts'
import { openLog } from '../../src/core/log.ts'
import { Exporter } from '../../src/core/trace/exporter.ts'
import type { Ended } from '../../src/core/trace/span.ts'
import { openBus } from '../../src/database/notify.ts'
import { CallDeadline } from '../../src/outbound/deadline.ts'
import { CallRecord } from '../../src/outbound/record.ts'
import { parseTarget } from '../../src/outbound/target.ts'
import { LocalLiveCalls as LocalCalls } from '../../src/proxy/local/live_calls.ts'
import { OutboxDelivery } from '../../src/proxy/outbox/delivery.ts'
import { Outbox } from '../../src/proxy/outbox/outbox.ts'
import { auditRecordOf } from '../../src/proxy/record.ts'
import { Bulkheads } from '../../src/resolver/bulkhead.ts'
import { LiveCalls } from '../../src/resolver/live_calls.ts'
import { openDrain } from '../../src/server/app.ts'
import { Supervisor, type Worker } from '../../src/server/supervisor.ts'
import { startCollector } from '../support/collector.ts'
import { sharedCluster } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'

const { test } = requires()
const directory = mkdtempSync(join(tmpdir(), 'cr-clock-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const log = openLog('error', () => {})
const never = new AbortController().signal
const basis = {
  scope: { projectId: 'one', environment: 'development' },
  placeholders: [],
  asked: {
    target: parseTarget('https://api.example/'),
    method: 'GET',
    override: null,
    isMultipart: false,
    operations: [],
  },
}

/** Milliseconds that the work takes. */
async function timed(work: PromiseLike<unknown>): Promise<number> {
  const started = performance.now()
  await work
  return performance.now() - started
}

test.concurrent('a timer fires once after its time, restarts on request, and never fires after a cancel', async () => {
  const fired: string[] = []
  const once = new Promise<void>((resolve) => void systemTimers.setTimer(100, resolve))
  const cancelled = systemTimers.setTimer(50, () => fired.push('cancelled'))
  cancelled.cancel()
  const restarted = systemTimers.setTimer(200, () => fired.push('restarted'))
  const repeating = systemTimers.setRepeating(20, () => fired.push('repeated'))
  expect(await timed(once)).toBeGreaterThanOrEqual(99)
  restarted.restart()
  const waited = timed(until(() => fired.includes('restarted')))
  expect(await waited).toBeGreaterThan(150)
  repeating.cancel()
  const { length } = fired
  await systemTimers.sleep(100)
  expect(fired.length).toBe(length)
  expect(fired.filter((name) => name === 'repeated').length).toBeGreaterThan(2)
  expect(fired).not.toContain('cancelled')
})

test.concurrent('a deadline cancels its work when the time is over', async () => {
  const over = new Promise<void>((resolve) => new CallDeadline(200).afterwards(resolve))
  expect(await timed(over)).toBeGreaterThanOrEqual(199)
})

test.concurrent('a drain of a second takes a second', async () => {
  expect(await timed(openDrain({ DRAIN_SECONDS: 1 }).beginStop())).toBeGreaterThanOrEqual(999)
})

test.concurrent('a call waits one second for a free slot', async () => {
  const bulkheads = new Bulkheads({ width: 1 })
  await bulkheads.enter('a', never)
  const refused = Promise.resolve(bulkheads.enter('a', never)).then(
    () => 'entered',
    (error: Fault) => error.code,
  )
  expect(await timed(refused)).toBeGreaterThanOrEqual(999)
  expect(await refused).toBe('rate_limited')
})

test.concurrent('open calls of the resolver are checked again within seconds', async () => {
  const calls = new LiveCalls({
    tokens: { versions: async () => new Map() },
    snapshots: { isOver: () => false } as unknown as SnapshotCache,
    keys: new KeyCache(0, systemClock),
    guards: {
      get: () => undefined,
      of: () => Promise.reject(new Error('not needed')),
      remember: () => {},
    },
    log,
  })
  const token = { id: 'token', workspaceId: 'one' } as LiveToken
  const ended = new Promise<Fault>((resolve) => void calls.hold({ ...basis, token }, resolve))
  expect(await timed(ended)).toBeGreaterThan(4_000)
  expect((await ended).code).toBe('invalid_token')
  calls.close()
})

test.concurrent('open calls of the local proxy are checked again within a second', async () => {
  const vault = { current: () => Promise.reject(new Fault('forbidden')) }
  const calls = new LocalCalls({ vault, place: { projectId: 'one', environment: 'x' } })
  const ended = new Promise<Fault>((resolve) => void calls.hold(basis, resolve))
  expect(await timed(ended)).toBeGreaterThan(900)
  expect((await ended).code).toBe('forbidden')
  calls.close()
})

test.concurrent('the outbox is sent without a trigger, and retried after a failure', async () => {
  const owner = { server: 'http://one', email: 'ada@x.example', workspace_id: 'w', agent: null }
  const outbox = new Outbox(directory, owner)
  const scope = { projectId: '0190f6a0-0000-7000-8000-000000000000', environment: 'development' }
  const call = new CallRecord({ id: 'a', ...scope })
  const target = { host: 'api.example.com', method: 'GET', ...scope }
  await outbox.add(auditRecordOf(call, target, call.outcome(200, false)))
  let attempts = 0
  const upload = async () => {
    attempts += 1
    if (attempts === 1) throw new TypeError('no connection')
  }
  const refusedFile = join(directory, 'refused.jsonl')
  const delivery = new OutboxDelivery(outbox, { upload, notice: () => {}, refusedFile })
  expect(await timed(until(() => attempts === 2))).toBeGreaterThan(2_500)
  await delivery.stop(1_000)
  outbox.close()
})

test.concurrent('a worker that ends is restarted', async () => {
  const ends: ((code: number) => void)[] = []
  const spawn = (index: number): Worker<string> => {
    const exited = Promise.withResolvers<number>()
    ends.push(exited.resolve)
    const kill = () => exited.resolve(0)
    return { pid: 100 + index, ready: Promise.resolve('ready'), exited: exited.promise, kill }
  }
  const supervisor = new Supervisor({ count: 1, spawn, log })
  await supervisor.start()
  ends[0]?.(1)
  expect(await timed(until(() => ends.length === 2))).toBeGreaterThan(50)
  expect(await supervisor.stop(1_000)).toBe(true)
})

test.concurrent('a span is exported within seconds', async () => {
  const collector = startCollector()
  const to = { url: `${collector.origin}/v1/traces`, headers: {}, serviceName: 'test' }
  const exporter = new Exporter(to, log)
  const span: Ended = {
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    parentId: null,
    name: 'a span',
    kind: 'internal',
    from: 1_700_000_000_000,
    to: 1_700_000_000_001,
    attributes: {},
    events: [],
    isError: false,
  }
  exporter.add(span)
  expect(await timed(until(() => exporter.counts.exported === 1))).toBeGreaterThan(4_000)
  await exporter.close(1_000)
  await collector.stop()
})

test('text that only starts like a masked value appears after a second of silence', async () => {
  let shown = ''
  const mask = prepareMask({ KEY: 'sk_live_4eC39HqLyjWDarjtT1zdp7dc' })((text) => {
    shown += Buffer.from(text).toString()
  })
  mask.write(Buffer.from('sk_live'))
  expect(await timed(until(() => shown === 'sk_live'))).toBeGreaterThan(900)
})

{
  const { test } = requires('postgresql')

  test('the notice connection sends a heartbeat within seconds', async () => {
    const { socketDir, createDatabase } = await sharedCluster()
    const database = await createDatabase()
    const connect = () => postgres({ host: socketDir, user: 'cloakroom', database, max: 1 })
    const sql = connect()
    let pulses = 0
    await sql.listen('cloakroom_policy', (payload) => {
      if (payload === '') pulses += 1
    })
    const bus = openBus({ kind: 'postgresql', sql, connectBesides: connect }, log)
    bus.subscribe('cloakroom_policy', { onNotice: () => {}, onGap: () => {} })
    expect(await timed(until(() => pulses === 2))).toBeGreaterThan(9_000)
    await bus.close()
    await sql.end()
  })
}
