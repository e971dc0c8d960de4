// tier: quick
import { describe, expect, test } from 'bun:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { utf8 } from '../../../src/core/crypto/encoding.ts'
import {
  environmentKey,
  openSecretValue,
  policyHash,
  readValueEpoch,
  sealSecretValue,
} from '../../../src/core/crypto/secret_value.ts'

const projectId = '01920000-0000-7000-8000-000000000002'
const place = { projectId, environment: 'production', key: 'API_KEY' }
const key = environmentKey(new Uint8Array(32).fill(7), projectId, 'production', 3)
const policy = { allowed_methods: ['GET'] }

test('any value opens in the place where it was sealed', () => {
  const places = fc.record({
    projectId: fc.uuid(),
    environment: fc.string(),
    key: fc.string({ unit: 'grapheme' }),
  })
  const epochs = fc.integer({ min: 1, max: 65_535 })
  fc.assert(
    fc.property(places, fc.json(), epochs, fc.uint8Array(), (where, json, epoch, plaintext) => {
      const terms: unknown = JSON.parse(json)
      const value = sealSecretValue(key, where, terms, epoch, plaintext)
      expect(readValueEpoch(value)).toBe(epoch)
      expect(openSecretValue(key, where, terms, value)?.reveal()).toEqual(plaintext)
    }),
  )
})

test('a value with any single bit flipped does not open, or announces another epoch', () => {
  const value = sealSecretValue(key, place, policy, 3, utf8('hunter2'))
  for (let bit = 0; bit < value.length * 8; bit++) {
    const flipped = value.with(bit >> 3, (value[bit >> 3] ?? 0) ^ (1 << (bit & 7)))
    const opened = openSecretValue(key, place, policy, flipped)
    const isEpochBit = bit >= 8 && bit < 40
    if (isEpochBit) expect(readValueEpoch(flipped)).not.toBe(3)
    else expect(opened).toBeNull()
  }
})

test('a value opens in no other place', () => {
  const value = sealSecretValue(key, place, policy, 3, utf8('hunter2'))
  const elsewhere = [
    { ...place, projectId: '01920000-0000-7000-8000-000000000003' },
    { ...place, environment: 'staging' },
    { ...place, key: 'API_KEY2' },
    { ...place, environment: 'productionA', key: 'PI_KEY' },
  ]
  for (const other of elsewhere) expect(openSecretValue(key, other, policy, value)).toBeNull()
  for (const other of [null, undefined, {}, { allowed_methods: ['GET', 'POST'] }]) {
    expect(openSecretValue(key, place, other, value)).toBeNull()
  }
})

test('environment keys differ by workspace key, project, environment and epoch', () => {
  const keys = [
    key,
    environmentKey(new Uint8Array(32).fill(8), projectId, 'production', 3),
    environmentKey(
      new Uint8Array(32).fill(7),
      '01920000-0000-7000-8000-000000000003',
      'production',
      3,
    ),
    environmentKey(new Uint8Array(32).fill(7), projectId, 'staging', 3),
    environmentKey(new Uint8Array(32).fill(7), projectId, 'production', 4),
  ]
  expect(new Set(keys.map((bytes) => bytes.toHex())).size).toBe(keys.length)
})

test('opening never throws on random bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(openSecretValue(key, place, null, bytes)).toBeNull()
      const versioned = Uint8Array.of(1, 0, 0, 0, 3, ...bytes)
      expect(openSecretValue(key, place, null, versioned)).toBeNull()
    }),
  )
})

test('a value read out of a larger buffer announces its own epoch', () => {
  const value = sealSecretValue(key, place, null, 258, utf8('x'))
  const larger = new Uint8Array(value.length + 9)
  larger.set(value, 5)
  expect(readValueEpoch(larger.subarray(5))).toBe(258)
  expect(readValueEpoch(larger.subarray(5, 9))).toBeNull()
})

test('sealing rejects epochs outside 1 to 65,535', () => {
  for (const epoch of [0, -1, 65_536, 1.5, Number.NaN]) {
    expect(() => sealSecretValue(key, place, null, epoch, utf8('x'))).toThrow(RangeError)
    expect(() => environmentKey(key, projectId, 'production', epoch)).toThrow(RangeError)
  }
})

describe('policy hash', () => {
  test('a policy hash does not depend on the order of properties', () => {
    const one = policyHash({ allowed_paths: ['/a'], allowed_domains: ['b.example'] })
    const two = policyHash({ allowed_domains: ['b.example'], allowed_paths: ['/a'] })
    expect(one).toEqual(two)
  })

  test('a policy hash depends on the order of a list, and on the presence of an empty list', () => {
    const hashes = [null, {}, { a: [] }, { a: ['x', 'y'] }, { a: ['y', 'x'] }].map(policyHash)
    expect(new Set(hashes.map((hash) => hash.toHex())).size).toBe(5)
    expect(policyHash(undefined)).toEqual(policyHash(null))
  })

  test('a policy hash rejects values that are not JSON', () => {
    expect(() => policyHash(() => 'x')).toThrow(TypeError)
    expect(() => policyHash({ a: '\ud800' })).toThrow()
  })
})

test('an opened value prints [redacted] wherever it is printed by mistake', () => {
  const value = sealSecretValue(key, place, null, 3, utf8('hunter2'))
  const secret = openSecretValue(key, place, null, value)
  if (secret === null) throw new Error('the value did not open')
  expect(`${secret}`).toBe('[redacted]')
  expect(String(secret)).toBe('[redacted]')
  expect(JSON.stringify({ secret })).toBe('{"secret":"[redacted]"}')
  for (const print of [inspect, Bun.inspect]) {
    const printed = print({ secret, list: [secret] })
    expect(printed).toContain('[redacted]')
    expect(printed).not.toContain('hunter2')
    expect(printed).not.toContain('104')
  }
  expect(new TextDecoder().decode(secret.reveal())).toBe('hunter2')
})
