// tier: quick
/** Held secrets (protocol 14.1): a separate key and form, so that no environment key opens one. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  fromBase64,
  lp,
  toBase64,
  u32be,
  utf8,
  uuidToBytes,
} from '../../../src/core/crypto/encoding.ts'
import { hkdf, openGcm } from '../../../src/core/crypto/primitives.ts'
import {
  deriveHeldKey,
  environmentKey,
  openSealed,
  openSecretValue,
  readValueEpoch,
  readValueVersion,
  sealSecretValue,
} from '../../../src/core/crypto/secret_value.ts'
import vectors from '../../vectors/held-secret-v3.json'
import { hex } from './vector_support.ts'

const workspaceKey = new Uint8Array(32).fill(7)
const projectId = '01920000-0000-7000-8000-000000000002'
const other = '01920000-0000-7000-8000-000000000003'
const place = { projectId, environment: 'production', key: 'API_KEY' }
const policy = { approval: { by: 'member' as const, ttl_seconds: 900 } }
const key = deriveHeldKey(workspaceKey, projectId, 'production', 3)
const value = sealSecretValue(key, place, policy, 3, utf8('hunter2'))

test('any held value opens under its key, and announces version 2 and its epoch', () => {
  const epochs = fc.integer({ min: 1, max: 65_535 })
  fc.assert(
    fc.property(epochs, fc.uint8Array(), (epoch, plaintext) => {
      const sealed = sealSecretValue(key, place, policy, epoch, plaintext)
      expect(readValueVersion(sealed)).toBe(2)
      expect(readValueEpoch(sealed)).toBe(epoch)
      expect(openSecretValue(key, place, policy, sealed)?.reveal()).toEqual(plaintext)
      expect(openSealed(key, { ...place, policy, ciphertext: sealed })?.reveal()).toEqual(plaintext)
    }),
  )
})

test('the environment key of the same place and epoch does not open a held value', () => {
  const token = environmentKey(workspaceKey, projectId, 'production', 3)
  expect(token).not.toEqual(key)
  for (const terms of [policy, null, {}]) {
    expect(openSecretValue(token, place, terms, value)).toBeNull()
    expect(openSealed(token, { ...place, policy: terms, ciphertext: value })).toBeNull()
    expect(openSecretValue(token, place, terms, value.with(0, 1))).toBeNull()
  }
})

test('a held key of another workspace, place or epoch does not open a held value', () => {
  const others = [
    deriveHeldKey(new Uint8Array(32).fill(8), projectId, 'production', 3),
    deriveHeldKey(workspaceKey, other, 'production', 3),
    deriveHeldKey(workspaceKey, projectId, 'staging', 3),
    deriveHeldKey(workspaceKey, projectId, 'production', 4),
  ]
  for (const one of others) expect(openSecretValue(one, place, policy, value)).toBeNull()
  expect(new Set([key, ...others].map((bytes) => bytes.toHex())).size).toBe(5)
})

test('a held value does not open at another place', () => {
  const elsewhere = [
    { ...place, projectId: other },
    { ...place, environment: 'staging' },
    { ...place, key: 'API_KEY2' },
  ]
  for (const one of elsewhere) expect(openSecretValue(key, one, policy, value)).toBeNull()
})

test('a held value does not open with a policy whose approval was removed, added to or replaced', () => {
  const altered = [
    null,
    {},
    { approval: { by: 'admin', ttl_seconds: 900 } },
    { approval: { by: 'member', ttl_seconds: 901 } },
    { approval: null },
    { ...policy, allowed_domains: ['api.example.com'] },
  ]
  for (const terms of altered) {
    expect(openSecretValue(key, place, terms, value)).toBeNull()
    expect(openSecretValue(key, place, terms, value.with(0, 1))).toBeNull()
  }
})

test('a value in the usual form does not open with a policy that demands an approval', () => {
  const usual = sealSecretValue(key, place, null, 3, utf8('hunter2'))
  expect(readValueVersion(usual)).toBe(1)
  expect(openSecretValue(key, place, policy, usual)).toBeNull()
  expect(openSecretValue(key, place, policy, usual.with(0, 2))).toBeNull()
})

test('the label binds the form, even under one key and one policy hash', () => {
  const relabelled = value.with(0, 1)
  expect(openSecretValue(key, place, policy, relabelled)).toBeNull()
  const usual = lp('cloakroom/v1/secret', uuidToBytes(projectId), 'production', 'API_KEY')
  expect(openGcm(key, value.subarray(5, 17), usual, value.subarray(17))).toBeNull()
})

test('any flipped bit of a held value keeps it closed, or announces another epoch', () => {
  for (let bit = 0; bit < value.length * 8; bit++) {
    const flipped = value.with(bit >> 3, (value[bit >> 3] ?? 0) ^ (1 << (bit & 7)))
    const isEpochBit = bit >= 8 && bit < 40
    if (isEpochBit) expect(readValueEpoch(flipped)).not.toBe(3)
    else expect(openSecretValue(key, place, policy, flipped)).toBeNull()
  }
})

test('the version is null for a header of another form', () => {
  for (const bytes of [
    [],
    [1],
    [2, 0, 0, 0],
    [0, 0, 0, 0, 1],
    [3, 0, 0, 0, 1],
    [2, 0, 0, 0, 0],
    [2, 0, 1, 0, 0],
  ])
    expect(readValueVersion(Uint8Array.from(bytes))).toBeNull()
  expect(readValueVersion(Uint8Array.of(2, 0, 0, 0, 1))).toBe(2)
})

test('a held key needs an epoch from 1 to 65,535', () => {
  for (const epoch of [0, -1, 65_536, 1.5, Number.NaN])
    expect(() => deriveHeldKey(workspaceKey, projectId, 'production', epoch)).toThrow(RangeError)
})

describe('the vectors of protocol 14.1', () => {
  const { held_key: derived, held_secret: secret } = vectors

  test('the held key has the given bytes', () => {
    const { workspace_key, project_id, environment, epoch, info, output } = derived
    expect(lp('cloakroom/v3/held-key', environment, u32be(epoch)).toHex()).toBe(info)
    expect(hkdf(hex(workspace_key), uuidToBytes(project_id), hex(info)).toHex()).toBe(output)
    expect(deriveHeldKey(hex(workspace_key), project_id, environment, epoch).toHex()).toBe(output)
  })

  const at = { projectId: secret.project_id, environment: secret.environment, key: secret.key }

  test('a held value is sealed to the given bytes and opens', () => {
    const sealed = sealSecretValue(
      hex(secret.held_key),
      at,
      secret.policy,
      secret.epoch,
      utf8(secret.plaintext),
      hex(secret.nonce),
    )
    expect(toBase64(sealed)).toBe(secret.value)
    const opened = openSecretValue(hex(secret.held_key), at, secret.policy, sealed)
    expect(opened?.reveal()).toEqual(utf8(secret.plaintext))
  })

  test('a held value binds the given additional data', () => {
    const sealed = (fromBase64(secret.value) ?? new Uint8Array()).subarray(17)
    const opened = openGcm(
      hex(secret.held_key),
      hex(secret.nonce),
      hex(secret.additional_data),
      sealed,
    )
    expect(opened).toEqual(utf8(secret.plaintext))
  })
})
