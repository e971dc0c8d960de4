// tier: quick
/** The state between calls, its sealed form computed again with node:crypto, and the times that it sets. */
import { describe, expect, test } from 'bun:test'
import { createCipheriv, createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { utf8 } from '../../src/core/crypto/encoding.ts'
import { isDue, isUsable, retryDelayS } from '../../src/derivation/due.ts'
import { listGuardedInRoot, listGuardedInState } from '../../src/derivation/guarded.ts'
import {
  buildNextState,
  type Credential,
  type DerivedState,
  deriveStateKey,
  openState,
  sealState,
} from '../../src/derivation/state.ts'
import { rsa, sampleRoot } from './sample_roots.ts'

const NOW = Date.UTC(2026, 10, 21, 4, 5, 6)
const HOUR = 3_600_000
const ENVIRONMENT_KEY = new Uint8Array(32).fill(7)
const ROOT = utf8('{"token_url":"https://localhost/"}')
const key = deriveStateKey(ENVIRONMENT_KEY, ROOT, 'oauth2')
const place = {
  projectId: '01920000-0000-7000-8000-000000000002',
  environment: 'production',
  key: 'API_KEY',
  generation: 5,
}
const awsKeys = {
  access_key_id: 'ASIAIOSFODNN7EXAMPLE',
  secret_access_key: 'secret-key-1',
  session_token: 'session-token-1',
}

const stateWith = (change: Partial<DerivedState> = {}): DerivedState => ({
  v: 3,
  credential: 'access-token-1',
  refresh_token: 'refresh-1',
  expires_at: NOW + HOUR,
  derived_at: NOW,
  guarded: [],
  ...change,
})

const derived = (credential: Credential, refreshToken: string | null = null, lifetimeS = 3600) =>
  ({ kind: 'derived', credential, refreshToken, lifetimeS }) as const

describe('a sealed state', () => {
  /** `lp` of the protocol, implemented again. */
  const lp = (...fields: (string | Buffer)[]) =>
    Buffer.concat(
      fields.flatMap((field) => {
        const bytes = Buffer.from(field as string)
        const length = Buffer.alloc(4)
        length.writeUInt32BE(bytes.length)
        return [length, bytes]
      }),
    )
  /** HKDF-SHA256 of RFC 5869, one block. */
  const hkdf = (secret: Uint8Array, salt: Uint8Array, info: Buffer) => {
    const extracted = createHmac('sha256', salt).update(secret).digest()
    return createHmac('sha256', extracted).update(info).update(Buffer.of(1)).digest()
  }

  test.each(['oauth2', 'github_app', 'aws_role', ''] as const)(
    'a sealed state has the key and bytes of the protocol: kind "%s"',
    (kind) => {
      const salt = createHash('sha256').update(ROOT).digest()
      const expectedKey = hkdf(ENVIRONMENT_KEY, salt, lp('cloakroom/v3/derived-key', kind))
      const derivedKey = deriveStateKey(ENVIRONMENT_KEY, ROOT, kind)
      expect(Buffer.from(derivedKey).toString('hex')).toBe(expectedKey.toString('hex'))
      const nonce = Buffer.alloc(12, 9)
      const generation = Buffer.from('0000000000000005', 'hex')
      const uuid = Buffer.from(place.projectId.replaceAll('-', ''), 'hex')
      const cipher = createCipheriv('aes-256-gcm', expectedKey, nonce)
      const data = lp('cloakroom/v3/derived-state', uuid, place.environment, place.key)
      cipher.setAAD(Buffer.concat([data, generation]))
      const plaintext = `{"credential":"access-token-1","derived_at":${NOW},"expires_at":${NOW + HOUR},"guarded":[{"until":7,"value":"v"}],"refresh_token":null,"v":3}`
      const parts = [cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]
      const expected = Buffer.concat([Buffer.of(1), nonce, ...parts])
      const state = stateWith({ refresh_token: null, guarded: [{ value: 'v', until: 7 }] })
      const sealed = sealState(derivedKey, place, state, nonce)
      expect(Buffer.from(sealed).toString('hex')).toBe(expected.toString('hex'))
    },
  )

  const text = fc.string({ unit: fc.constantFrom(...'aZ9"\\~!'), minLength: 8, maxLength: 40 })
  const time = fc.nat({ max: Number.MAX_SAFE_INTEGER })
  const states: fc.Arbitrary<DerivedState> = fc.record({
    v: fc.constant(3 as const),
    credential: fc.option(fc.oneof(text, fc.constant(awsKeys))),
    refresh_token: fc.option(text),
    expires_at: fc.option(time),
    derived_at: fc.option(time),
    guarded: fc.array(fc.record({ value: text, until: time }), { maxLength: 32 }),
  })

  test('a sealed state opens unchanged in its place and nowhere else', () => {
    const generations = fc.bigInt({ min: 0n, max: 2n ** 64n - 2n })
    fc.assert(
      fc.property(states, generations, (state, generation) => {
        const here = { ...place, generation }
        const sealed = sealState(key, here, state)
        expect(openState(key, here, sealed)).toEqual(state)
        const elsewhere = [
          { ...here, projectId: '01920000-0000-7000-8000-000000000003' },
          { ...here, environment: 'staging' },
          { ...here, key: 'API_KEY2' },
          { ...here, environment: 'productionA', key: 'PI_KEY' },
          { ...here, generation: generation + 1n },
        ]
        for (const other of elsewhere) expect(openState(key, other, sealed)).toBeNull()
      }),
    )
  })

  test('a sealed state does not open under the key of another root, kind or environment', () => {
    const sealed = sealState(key, place, stateWith())
    const others = [
      deriveStateKey(ENVIRONMENT_KEY, utf8('{"token_url":"https://localhost/x"}'), 'oauth2'),
      deriveStateKey(ENVIRONMENT_KEY, ROOT, 'aws_role'),
      deriveStateKey(ENVIRONMENT_KEY, ROOT, ''),
      deriveStateKey(new Uint8Array(32).fill(8), ROOT, 'oauth2'),
    ]
    for (const other of others) expect(openState(other, place, sealed)).toBeNull()
    expect(openState(key, place, sealed)).not.toBeNull()
  })

  test('a sealed state does not open if it is shorter, longer or has a flipped bit', () => {
    const sealed = sealState(key, place, stateWith())
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const flipped = sealed.with(bit >> 3, (sealed[bit >> 3] ?? 0) ^ (1 << (bit & 7)))
      expect(openState(key, place, flipped)).toBeNull()
    }
    for (let length = 0; length < sealed.length; length++)
      expect(openState(key, place, sealed.subarray(0, length))).toBeNull()
    expect(openState(key, place, Buffer.concat([sealed, Buffer.of(0)]))).toBeNull()
  })

  test('a sealed value that is not a state does not open', () => {
    const malformed: unknown[] = [
      { ...stateWith(), v: 2 },
      { ...stateWith(), more: 1 },
      { ...stateWith(), credential: 'short' },
      { ...stateWith(), credential: { ...awsKeys, access_key_id: '' } },
      { ...stateWith(), expires_at: -1 },
      { ...stateWith(), expires_at: new Date(NOW).toISOString() },
      { ...stateWith(), guarded: Array(33).fill({ value: 'v', until: 1 }) },
      { ...stateWith(), refresh_token: undefined },
    ]
    for (const state of malformed) {
      const sealed = sealState(key, place, state as DerivedState)
      expect(openState(key, place, sealed)).toBeNull()
    }
  })

  test('a sealed state has at most 256 KiB and an unsigned 64-bit generation', () => {
    const large = Array(32).fill({ value: 'v'.repeat(16_384), until: 1 })
    expect(() => sealState(key, place, stateWith({ guarded: large }))).toThrow(RangeError)
    for (const generation of [-1, 2n ** 64n])
      expect(() => sealState(key, { ...place, generation }, stateWith())).toThrow(RangeError)
  })
})

describe('the next state', () => {
  test('the next state counts the lifetime from the time of sending, and keeps the refresh token if there is no new one', () => {
    const first = buildNextState(null, derived('access-token-1', null, 60), NOW - 5000, NOW)
    expect(first).toEqual(
      stateWith({ refresh_token: null, expires_at: NOW + 55_000, derived_at: NOW - 5000 }),
    )
    expect(buildNextState(stateWith(), derived('access-token-2'), NOW, NOW).refresh_token).toBe(
      'refresh-1',
    )
  })

  test('the next state guards a replaced credential until it expires, and a replaced refresh token for 24 hours', () => {
    const later = NOW + 60_000
    const next = buildNextState(stateWith(), derived('access-token-2', 'refresh-2'), later, later)
    expect(next).toEqual({
      ...stateWith({ credential: 'access-token-2', refresh_token: 'refresh-2' }),
      expires_at: later + HOUR,
      derived_at: later,
      guarded: [
        { value: 'access-token-1', until: NOW + HOUR },
        { value: 'refresh-1', until: later + 24 * HOUR },
      ],
    })
  })

  test('the next state guards each part of replaced AWS keys', () => {
    const old = stateWith({ credential: awsKeys, refresh_token: null })
    const next = buildNextState(
      old,
      derived({ ...awsKeys, session_token: 'session-token-2' }),
      NOW,
      NOW,
    )
    expect(next.guarded).toEqual([{ value: 'session-token-1', until: NOW + HOUR }])
  })

  test('the next state does not guard expired values or values in use', () => {
    const old = stateWith({
      guarded: [
        { value: 'over', until: NOW },
        { value: 'lasts', until: NOW + 1 },
      ],
    })
    expect(buildNextState(old, derived('access-token-1', 'refresh-1'), NOW, NOW).guarded).toEqual([
      { value: 'lasts', until: NOW + 1 },
    ])
    const expired = stateWith({ expires_at: NOW, refresh_token: null })
    expect(buildNextState(expired, derived('access-token-2'), NOW, NOW).guarded).toEqual([])
  })

  test('the next state drops the earliest expiring values beyond 32 values or 256 KiB, and always seals', () => {
    const entry = fc.record({
      value: fc
        .tuple(fc.uuid(), fc.integer({ min: 0, max: 16_000 }), fc.constantFrom('"', 'a'))
        .map(([id, length, filler]) => id + filler.repeat(length)),
      until: fc.integer({ min: NOW + 1, max: NOW + HOUR }),
    })
    const olds = fc.record({
      guarded: fc.uniqueArray(entry, { maxLength: 32, selector: ({ value }) => value }),
      credential: fc.constantFrom('access-token-1', '"'.repeat(16_384)),
    })
    fc.assert(
      fc.property(olds, ({ guarded, credential }) => {
        const old = stateWith({ guarded, credential })
        const next = buildNextState(old, derived('access-token-2', 'refresh-2'), NOW, NOW)
        const candidates = [
          ...guarded,
          { value: credential, until: NOW + HOUR },
          { value: 'refresh-1', until: NOW + 24 * HOUR },
        ].sort((a, b) => a.until - b.until)
        expect(next.guarded).toEqual(candidates.slice(candidates.length - next.guarded.length))
        expect(next.guarded.length).toBeLessThanOrEqual(32)
        const sealed = sealState(key, place, next)
        expect(openState(key, place, sealed)).toEqual(next)
        // No value is dropped that would have fitted.
        const dropped = candidates.at(-next.guarded.length - 1)
        const fuller = dropped && { ...next, guarded: [dropped, ...next.guarded] }
        if (fuller && fuller.guarded.length <= 32)
          expect(() => sealState(key, place, fuller)).toThrow(RangeError)
      }),
      { numRuns: 60 },
    )
  })
})

describe('a credential', () => {
  const lasting = (seconds: number) => stateWith({ expires_at: NOW + seconds * 1000 })

  test.each([
    [36_000, 7200],
    [3600, 720],
    [300, 60],
    [200, 60],
    [120, 60],
    [100, 50],
    [10, 5],
  ])('a credential of %d seconds is due when fewer than %d are left', (lifetime, left) => {
    const state = lasting(lifetime)
    const end = NOW + lifetime * 1000
    expect(isDue(state, end - left * 1000)).toBe(false)
    expect(isDue(state, end - left * 1000 + 1)).toBe(true)
    expect(isDue(state, NOW)).toBe(false)
  })

  test('a credential is usable while 10 seconds are left', () => {
    const end = NOW + HOUR
    expect(isUsable(stateWith(), end - 10_000)).toBe(true)
    expect(isUsable(stateWith(), end - 9999)).toBe(false)
    expect(isUsable(stateWith(), end + 1)).toBe(false)
  })

  test('an absent credential is due and not usable', () => {
    expect(isDue(stateWith({ expires_at: null }), NOW)).toBe(true)
    expect(isUsable(stateWith({ expires_at: null }), NOW)).toBe(false)
    expect(isDue(stateWith({ derived_at: null }), NOW)).toBe(true)
  })

  test('a failed credential is renewed after 1, 2, 4 … 300 seconds, or when the endpoint requests it', () => {
    const delays = [0, 1, 2, 3, 8, 9, 10, 5000].map((failures) => retryDelayS(failures, null))
    expect(delays).toEqual([1, 1, 2, 4, 128, 256, 300, 300])
    expect([0, 1, 7, 3600].map((asked) => retryDelayS(9, asked))).toEqual([1, 1, 7, 3600])
  })
})

describe('the guarded values', () => {
  const texts = (bytes: readonly Uint8Array[]) => bytes.map((it) => Buffer.from(it).toString())
  const inState = (state: DerivedState) =>
    texts(listGuardedInState(state).map(({ bytes }) => bytes))
  const part = (value: object | string) => Buffer.from(JSON.stringify(value)).toString('base64url')

  test("a root's guarded values are its secrets and the values of its parameters", () => {
    const refreshing = sampleRoot('oauth2', {
      refresh_token: 'refresh-1',
      parameters: { account_id: 'account-1', tenant: 'account-1' },
    })
    expect(texts(listGuardedInRoot(refreshing))).toEqual([
      'client-secret-1',
      'refresh-1',
      'account-1',
    ])
    const parameters = { grant_type: 'account_credentials', account_id: 'account-1' }
    expect(texts(listGuardedInRoot(sampleRoot('oauth2', { parameters })))).toEqual([
      'client-secret-1',
      'account-1',
    ])
    const client = { client_secret: undefined, client_auth: 'private_key_jwt' }
    const signing = sampleRoot('oauth2', { ...client, private_key: rsa.pkcs8 })
    expect(texts(listGuardedInRoot(signing))).toEqual([rsa.pkcs8])
    expect(texts(listGuardedInRoot(sampleRoot('github_app')))).toEqual([rsa.pkcs1])
    expect(texts(listGuardedInRoot(sampleRoot('aws_role', { external_id: 'external-1' })))).toEqual(
      ['wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'external-1'],
    )
  })

  test("a state's guarded values are all its values, each with the time after which a replaced one may be forgotten", () => {
    const state = stateWith({ credential: awsKeys, guarded: [{ value: 'replaced', until: NOW }] })
    expect(listGuardedInState(state)).toEqual([
      ...[...Object.values(awsKeys), 'refresh-1'].map((value) => ({
        bytes: utf8(value),
        until: null,
      })),
      { bytes: utf8('replaced'), until: NOW },
    ])
    expect(inState(stateWith({ credential: null, refresh_token: null }))).toEqual([])
  })

  test('a JSON Web Token is guarded by its third part, and every other value as a whole', () => {
    const header = part({ alg: 'ES256' })
    const jwt = `${header}.${part({ sub: 'a' })}.c2lnbmF0dXJl`
    const guarded = [{ value: jwt, until: NOW }]
    expect(inState(stateWith({ credential: jwt, refresh_token: jwt, guarded }))).toEqual(
      Array(3).fill('c2lnbmF0dXJl'),
    )
    const others = [
      'first-part.second-part.third-part',
      `${part({ typ: 'JWT' })}.${part({})}.c2lnbmF0dXJl`,
      `${part('text')}.${part({})}.c2lnbmF0dXJl`,
      `${header}.${part({})}.short`,
      `${header}.${part({})}.`,
      `${header}.a.b.c.c2lnbmF0dXJl`,
      `ghs_${jwt}`,
    ]
    for (const credential of others)
      expect(inState(stateWith({ credential, refresh_token: null }))).toEqual([credential])
  })
})
