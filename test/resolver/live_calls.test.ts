// tier: quick
/** Open calls are checked again: immediately after a notice, and within seconds without one. */
import { describe, expect, test } from 'bun:test'
import { KeyCache } from '../../src/access/keys.ts'
import {
  type Snapshot,
  type SnapshotCache,
  StaleSnapshot,
} from '../../src/access/snapshots/snapshots.ts'
import type { LiveToken } from '../../src/access/tokens.ts'
import { systemClock } from '../../src/core/clock.ts'
import { Fault } from '../../src/core/fault.ts'
import { openLog } from '../../src/core/log.ts'
import { parseDomain } from '../../src/core/net/domain.ts'
import { parseTarget } from '../../src/outbound/target.ts'
import { LiveCalls, type TokenBasis } from '../../src/resolver/live_calls.ts'
import { FakeTimers, settle } from '../support/fake_timers.ts'

const SWEEP_MS = 5_000

/** A workspace for which the test sets the database's answers. */
function world() {
  const state = {
    versions: new Map([['token', 1]]),
    domains: ['api.example'],
    isDown: false,
    asked: [] as (readonly string[])[],
    stale: 0,
    isOver: false,
  }
  const logs: string[] = []
  const snapshot = (): Snapshot => ({
    workspaceId: 'one',
    policyVersion: Math.max(...state.versions.values()),
    epoch: 1,
    allowlist: state.domains.flatMap((text) => parseDomain(text) ?? []),
    secrets: new Map(),
    placeable: new Map(),
    grants: new Map(),
    envelopes: new Map(),
    environments: new Map(),
    hasReleases: false,
    releases: new Map(),
    signed: null,
  })
  const services = {
    tokens: {
      versions: async (ids: readonly string[]) => {
        state.asked.push(ids)
        if (state.isDown) throw new Fault('unavailable')
        return new Map([...state.versions].filter(([id]) => ids.includes(id)))
      },
    },
    snapshots: {
      of: async () => {
        state.stale -= 1
        if (state.stale >= 0) throw new StaleSnapshot()
        return snapshot()
      },
      forget: () => {},
      isOver: () => state.isOver,
      requireVerified: () => {
        if (state.isOver) throw new Fault('invalid_token')
      },
    } as unknown as SnapshotCache,
    keys: new KeyCache(0, systemClock),
    guards: {
      remember: () => {},
      get: () => undefined,
      of: () => Promise.reject(new Error('no values are needed')),
    },
    log: openLog('debug', (line) => logs.push(line)),
  }
  return { state, services, logs }
}

function basisOf(id = 'token', workspaceId = 'one'): TokenBasis {
  return {
    token: { id, workspaceId, hosts: null, secrets: null } as LiveToken,
    scope: { projectId: null, environment: 'development' },
    placeholders: [],
    asked: {
      target: parseTarget('https://api.example/'),
      method: 'GET',
      override: null,
      isMultipart: false,
      operations: [],
    },
  }
}

function open(services: ReturnType<typeof world>['services']) {
  const timers = new FakeTimers()
  const calls = new LiveCalls(services, timers)
  const hold = (basis = basisOf()) => {
    const ended = Promise.withResolvers<string>()
    const leave = calls.hold(basis, ({ code }) => {
      leave()
      ended.resolve(code)
    })
    return { ended: ended.promise, leave }
  }
  return { calls, hold, sweep: (times = 1) => timers.advance(times * SWEEP_MS) }
}

/** Whether a call is still open. */
function isOpen({ ended }: { ended: Promise<string> }): Promise<boolean> {
  return Promise.race([ended.then(() => false), settle().then(() => true)])
}

describe('without any notice', () => {
  test('a token that is no longer live ends only its own calls, without any notice', async () => {
    const { state, services } = world()
    state.versions.set('other', 1)
    const { hold, sweep } = open(services)
    const [first, second] = [hold(), hold()]
    const other = hold(basisOf('other'))
    state.versions.delete('token')
    await sweep()
    expect(await Promise.all([first.ended, second.ended])).toEqual([
      'invalid_token',
      'invalid_token',
    ])
    await sweep(2)
    expect(await isOpen(other)).toBe(true)
  })

  test("a grant that expired by the process's clock ends its calls, whatever the database holds", async () => {
    const { state, services } = world()
    const { hold, sweep } = open(services)
    const call = hold()
    await sweep(2)
    expect(await isOpen(call)).toBe(true)
    state.isOver = true
    await sweep()
    expect(await call.ended).toBe('invalid_token')
  })

  test('open calls are checked against a newer policy', async () => {
    const { state, services } = world()
    const { hold, sweep } = open(services)
    const { ended } = hold()
    state.domains = []
    state.versions.set('token', 2)
    await sweep()
    expect(await ended).toBe('domain_blocked')
  })

  test('one statement reads the state of all open calls, and none runs while no call is open', async () => {
    const { state, services } = world()
    const { hold, sweep } = open(services)
    await sweep(5)
    expect(state.asked).toEqual([])
    const held = [hold(), hold(), hold()]
    await sweep(8)
    expect(state.asked.length).toBeGreaterThanOrEqual(8)
    expect(state.asked.every((ids) => ids.length === 1)).toBe(true)
    for (const { leave } of held) leave()
    const { length } = state.asked
    await sweep(5)
    expect(state.asked.length).toBe(length)
  })

  test('an unavailable database ends no call, and a revocation applies once it is back', async () => {
    const { state, services, logs } = world()
    const { hold, sweep } = open(services)
    const held = hold()
    state.isDown = true
    state.versions.delete('token')
    await sweep(4)
    expect(state.asked.length).toBe(4)
    expect(await isOpen(held)).toBe(true)
    expect(logs.join()).toContain('running calls could not be rechecked')
    state.isDown = false
    await sweep()
    expect(await held.ended).toBe('invalid_token')
  })
})

describe('after a notice', () => {
  test('only the calls of the changed workspace are checked after a notice', async () => {
    const { state, services } = world()
    state.versions.set('other', 1)
    const { calls, hold } = open(services)
    const { ended } = hold()
    const other = hold(basisOf('other', 'two'))
    state.versions.clear()
    calls.check('one')
    expect(await ended).toBe('invalid_token')
    expect(state.asked).toEqual([['token']])
    calls.check()
    expect(await other.ended).toBe('invalid_token')
  })

  test('a notice that arrives during a check is not lost', async () => {
    const { state, services } = world()
    const { calls, hold } = open(services)
    const { ended } = hold()
    calls.check('one')
    state.versions.set('token', 2)
    state.domains = []
    calls.check('one')
    calls.check('one')
    expect(await ended).toBe('domain_blocked')
    expect(state.asked.length).toBeLessThanOrEqual(2)
  })

  test('a stale snapshot is read again', async () => {
    const { state, services } = world()
    const { calls, hold } = open(services)
    const { ended } = hold()
    state.stale = 3
    state.domains = []
    calls.check('one')
    expect(await ended).toBe('domain_blocked')
  })
})
