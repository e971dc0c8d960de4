// tier: quick
/** What is open is judged again: at once after a notice, and within seconds without one. */
import { afterEach, describe, expect, test } from 'bun:test'
import { KeyCache } from '../../src/access/keys.ts'
import {
  type Snapshot,
  type SnapshotCache,
  StaleSnapshot,
} from '../../src/access/snapshots/snapshots.ts'
import type { LiveToken } from '../../src/access/tokens.ts'
import { parseTarget } from '../../src/outbound/target.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { Fault } from '../../src/platform/fault.ts'
import { openLog } from '../../src/platform/log.ts'
import { parseDomain } from '../../src/platform/net/domain.ts'
import { type Basis, LiveCalls } from '../../src/resolver/live_calls.ts'

const SWEEP_MS = 5
const NEVER_MS = 3_600_000

/** A workspace of which the test decides what the database says. */
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
      get: () => undefined,
      of: () => Promise.reject(new Error('no values are needed')),
    },
    log: openLog('debug', (line) => logs.push(line)),
  }
  return { state, services, logs }
}

function basisOf(id = 'token', workspaceId = 'one'): Basis {
  return {
    token: { id, workspaceId } as LiveToken,
    scope: { projectId: null, environment: 'development' },
    placeholders: [],
    asked: {
      target: parseTarget('https://api.example/'),
      method: 'GET',
      override: null,
      isMultipart: false,
    },
  }
}

const opened: LiveCalls[] = []
afterEach(() => {
  for (const calls of opened.splice(0)) calls.close()
})

function open(services: ReturnType<typeof world>['services'], sweepMs: number) {
  const calls = new LiveCalls(services, sweepMs)
  opened.push(calls)
  const hold = (basis = basisOf()) => {
    const ended = Promise.withResolvers<string>()
    const leave = calls.hold(basis, ({ code }) => {
      leave()
      ended.resolve(code)
    })
    return { ended: ended.promise, leave }
  }
  return { calls, hold }
}

/** Whether a call that is held was not ended so far. */
function isOpen({ ended }: { ended: Promise<string> }): Promise<boolean> {
  return Promise.race([ended.then(() => false), Bun.sleep(2 * SWEEP_MS).then(() => true)])
}

const until = async (condition: () => boolean) => {
  while (!condition()) await Bun.sleep(1)
}

describe('without any notice', () => {
  test('a token that is not live any more ends its calls, and only those', async () => {
    const { state, services } = world()
    state.versions.set('other', 1)
    const { hold } = open(services, SWEEP_MS)
    const [first, second] = [hold(), hold()]
    const other = hold(basisOf('other'))
    state.versions.delete('token')
    expect(await Promise.all([first.ended, second.ended])).toEqual([
      'invalid_token',
      'invalid_token',
    ])
    expect(await isOpen(other)).toBe(true)
  })

  test('a grant that is over by the clock of the process ends its calls, whatever the database says', async () => {
    const { state, services } = world()
    const { hold } = open(services, SWEEP_MS)
    const call = hold()
    expect(await isOpen(call)).toBe(true)
    state.isOver = true
    expect(await call.ended).toBe('invalid_token')
  })

  test('a newer policy is judged by', async () => {
    const { state, services } = world()
    const { hold } = open(services, SWEEP_MS)
    const { ended } = hold()
    state.domains = []
    state.versions.set('token', 2)
    expect(await ended).toBe('domain_blocked')
  })

  test('the database is asked once for all, and not at all while nothing is open', async () => {
    const { state, services } = world()
    const { hold } = open(services, SWEEP_MS)
    await Bun.sleep(5 * SWEEP_MS)
    expect(state.asked).toEqual([])
    const held = [hold(), hold(), hold()]
    await until(() => state.asked.length >= 8)
    expect(state.asked.every((ids) => ids.length === 1)).toBe(true)
    for (const { leave } of held) leave()
    await Bun.sleep(2 * SWEEP_MS)
    const { length } = state.asked
    await Bun.sleep(5 * SWEEP_MS)
    expect(state.asked.length).toBe(length)
  })

  test('a database that is away ends nothing, and what was missed is seen when it is back', async () => {
    const { state, services, logs } = world()
    const { hold } = open(services, SWEEP_MS)
    const held = hold()
    state.isDown = true
    state.versions.delete('token')
    const before = state.asked.length
    await until(() => state.asked.length > before + 3)
    expect(await isOpen(held)).toBe(true)
    expect(logs.join()).toContain('open calls could not be judged again')
    state.isDown = false
    expect(await held.ended).toBe('invalid_token')
  })
})

describe('after a notice', () => {
  test('the calls of that workspace are judged, those of others are not asked for', async () => {
    const { state, services } = world()
    state.versions.set('other', 1)
    const { calls, hold } = open(services, NEVER_MS)
    const { ended } = hold()
    const other = hold(basisOf('other', 'two'))
    state.versions.clear()
    calls.check('one')
    expect(await ended).toBe('invalid_token')
    expect(state.asked).toEqual([['token']])
    calls.check()
    expect(await other.ended).toBe('invalid_token')
  })

  test('one that comes while another is worked on is not lost', async () => {
    const { state, services } = world()
    const { calls, hold } = open(services, NEVER_MS)
    const { ended } = hold()
    calls.check('one')
    state.versions.set('token', 2)
    state.domains = []
    calls.check('one')
    calls.check('one')
    expect(await ended).toBe('domain_blocked')
    expect(state.asked.length).toBeLessThanOrEqual(2)
  })

  test('a snapshot that was outrun is read again', async () => {
    const { state, services } = world()
    const { calls, hold } = open(services, NEVER_MS)
    const { ended } = hold()
    state.stale = 3
    state.domains = []
    calls.check('one')
    expect(await ended).toBe('domain_blocked')
  })
})
