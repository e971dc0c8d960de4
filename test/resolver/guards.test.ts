// tier: quick, both databases in test:all
/** Prepared guards are cached exactly as long as the keys that opened their values (protocol 6.1). */
import { afterEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { keyNameOf } from '../../src/access/environment_key.ts'
import { KeyCache } from '../../src/access/keys.ts'
import { emptySnapshot } from '../../src/access/snapshots/snapshot.ts'
import { sealSecretValue } from '../../src/core/crypto/secret_value.ts'
import { Fault } from '../../src/core/fault.ts'
import { Secret } from '../../src/core/secret.ts'
import { Steps } from '../../src/outbound/steps.ts'
import type { GuardedValueParts } from '../../src/resolver/guarded_values.ts'
import { GuardCache } from '../../src/resolver/guards.ts'

const PROJECT = '018f3a1e-0000-7000-8000-000000000001'
const DEVELOPMENT = { projectId: PROJECT, environment: 'development' }
const STAGING = { projectId: PROJECT, environment: 'staging' }
const VALUE = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'
const utf8 = (text: string) => new Uint8Array(Buffer.from(text))

let now = 0
const opened: { close(): void }[] = []
afterEach(() => {
  for (const each of opened.splice(0)) each.close()
})

function caches(seconds: number) {
  const keys = new KeyCache(seconds, { now: () => now })
  const guards = new GuardCache({ keys, steps: new Steps() })
  opened.push(guards, keys)
  return { keys, guards }
}

type World = { keys: KeyCache; value?: string; version?: number; reads?: string[] }

/** The parts of a call that a token determines. `key` opens its envelopes; null if it was given none. */
function partsOf(tokenId: string, key: Uint8Array | null, sealing: Uint8Array, world: World) {
  const { keys, value = VALUE, version = 1, reads = [] } = world
  const snapshot = emptySnapshot({
    workspaceId: 'w',
    policyVersion: version,
    epoch: 1,
    allowlist: [],
    hasReleases: false,
  })
  const token = { id: tokenId }
  const provide = (place: typeof STAGING) => {
    if (key)
      keys.put(keyNameOf(snapshot, token as GuardedValueParts['token'], place), new Secret(key))
  }
  const snapshots = {
    envelope: async () => null,
    releases: () => [],
    readEnvironment: async (_: unknown, projectId: string, environment: string) => {
      reads.push(environment)
      const place = { projectId, environment, key: 'KEY' }
      const ciphertext = sealSecretValue(sealing, place, null, 1, utf8(value))
      return [{ ...place, policy: null, ciphertext }]
    },
  }
  return { parts: { snapshots, keys, snapshot, token } as unknown as GuardedValueParts, provide }
}

const isGuarding = (guard: Awaited<ReturnType<GuardCache['of']>>, text = VALUE) =>
  Buffer.from(guard.forCall().body(utf8(text))).toString() !== text

test('a cached guard is available immediately with its key', async () => {
  const { keys, guards } = caches(60)
  const key = randomBytes(32)
  const { parts, provide } = partsOf('t', key, key, { keys })
  provide(DEVELOPMENT)
  expect(guards.get(parts, [DEVELOPMENT])).toBeUndefined()
  const guard = await guards.of(parts, [DEVELOPMENT])
  expect(isGuarding(guard)).toBe(true)
  expect(guards.get(parts, [DEVELOPMENT])).toBe(guard)
})

test('a guard is removed with the key, however late it was prepared', async () => {
  const { keys, guards } = caches(60)
  const key = randomBytes(32)
  const { parts, provide } = partsOf('t', key, key, { keys })
  provide(DEVELOPMENT)
  now += 59_000
  await guards.of(parts, [DEVELOPMENT])
  now += 999
  expect(guards.get(parts, [DEVELOPMENT])).toBeDefined()
  now += 1
  expect(guards.get(parts, [DEVELOPMENT])).toBeUndefined()
  guards.sweep()
  expect(guards.size).toBe(0)
})

test('a revocation removes the guard with the keys, also while it is being prepared', async () => {
  const { keys, guards } = caches(60)
  const key = randomBytes(32)
  const { parts, provide } = partsOf('t', key, key, { keys })
  provide(DEVELOPMENT)
  await guards.of(parts, [DEVELOPMENT])
  keys.forget('w/')
  guards.sweep()
  expect(guards.size).toBe(0)
  provide(DEVELOPMENT)
  const preparing = guards.of(parts, [DEVELOPMENT])
  await Promise.resolve()
  keys.forget('w/')
  await preparing.catch(() => {})
  expect(guards.size).toBe(0)
})

test('KEY_CACHE_SECONDS=0 keeps no guard', async () => {
  const { keys, guards } = caches(0)
  const key = randomBytes(32)
  const { parts, provide } = partsOf('t', key, key, { keys })
  provide(DEVELOPMENT)
  await guards.of(parts, [DEVELOPMENT])
  expect(guards.get(parts, [DEVELOPMENT])).toBeUndefined()
  expect(guards.size).toBe(0)
})

test('tokens with the same key share a guard, and another environment has another', async () => {
  const { keys, guards } = caches(60)
  const key = randomBytes(32)
  const reads: string[] = []
  const [one, other] = ['a', 'b'].map((id) => partsOf(id, key, key, { keys, reads }))
  if (!one || !other) throw new Error('two tokens')
  for (const { provide } of [one, other]) [DEVELOPMENT, STAGING].forEach(provide)
  const guard = await guards.of(one.parts, [DEVELOPMENT])
  expect(guards.get(other.parts, [DEVELOPMENT])).toBe(guard)
  expect(guards.get(other.parts, [DEVELOPMENT, STAGING])).toBeUndefined()
  expect(await guards.of(other.parts, [STAGING, DEVELOPMENT])).not.toBe(guard)
  expect(reads).toEqual(['development', 'staging', 'development'])
})

test('values that a token could not open, because of a wrong or missing key, are guarded for all others', async () => {
  const { keys, guards } = caches(60)
  const key = randomBytes(32)
  for (const wrong of [randomBytes(32), null]) {
    const poor = partsOf('poor', wrong, key, { keys })
    poor.provide(DEVELOPMENT)
    expect(isGuarding(await guards.of(poor.parts, [DEVELOPMENT]))).toBe(false)
    const rich = partsOf('rich', key, key, { keys })
    rich.provide(DEVELOPMENT)
    expect(isGuarding(await guards.of(rich.parts, [DEVELOPMENT]))).toBe(true)
  }
})

test('a changed value is guarded by the next version', async () => {
  const { keys, guards } = caches(60)
  const key = randomBytes(32)
  for (const [version, value] of [VALUE, 'another-value-0123456789'].entries()) {
    const { parts, provide } = partsOf('t', key, key, { keys, value, version })
    provide(DEVELOPMENT)
    expect(guards.get(parts, [DEVELOPMENT])).toBeUndefined()
    expect(isGuarding(await guards.of(parts, [DEVELOPMENT]), value)).toBe(true)
  }
})

test('a failure other than a missing key results in no empty guard', async () => {
  const { keys, guards } = caches(60)
  const { parts } = partsOf('t', null, randomBytes(32), { keys })
  const failing = {
    ...parts,
    snapshots: { envelope: () => Promise.reject(new Fault('internal_error')) },
  }
  const asked = guards.of(failing as unknown as GuardedValueParts, [DEVELOPMENT])
  expect(asked).rejects.toThrow()
  await asked.catch(() => {})
})
