// tier: quick
/** Frozen outputs of this implementation: data stored today must open in every later version. */
import { describe, expect, test } from 'bun:test'
import {
  authKey,
  deriveMasterKey,
  recoveryVerifier,
  userKey,
} from '../../../src/client/account/keys.ts'
import { fromBase64, toBase64, utf8 } from '../../../src/core/crypto/encoding.ts'
import { fingerprint } from '../../../src/core/crypto/fingerprint.ts'
import { OuterLayer } from '../../../src/core/crypto/outer_layer.ts'
import { x25519PublicKey } from '../../../src/core/crypto/primitives.ts'
import {
  environmentKey,
  readValueEpoch,
  sealSecretValue,
} from '../../../src/core/crypto/secret_value.ts'
import {
  deriveVerifier,
  formatSealedToken,
  formatToken,
  parseToken,
  type TokenKind,
  tokenAuth,
  tokenKeyPair,
  verifierOf,
} from '../../../src/core/crypto/token.ts'
import frozen from '../../vectors/frozen-v1.json'
import { hex, OUTER_COLUMNS, openVector, textOf, type Vector } from './vector_support.ts'

const good: readonly (Vector & { name: string })[] = frozen.opens
const hostile: readonly (Vector & { name: string })[] = frozen.hostile

describe('opens', () => {
  for (const vector of good) {
    test(vector.name, async () => {
      const text = textOf(vector, 'plaintext')
      const expected = vector.kind === 'secret' ? utf8(text) : hex(text)
      expect(await openVector(vector)).toEqual(expected)
    })
  }

  test('every column opens, sealed before and after the outer key was rotated', () => {
    for (const column of OUTER_COLUMNS) {
      expect(good.filter((vector) => vector.column === column)).toHaveLength(2)
    }
  })
})

describe('a secret value is sealed to the same bytes', () => {
  for (const vector of frozen.opens) {
    if (!('nonce' in vector) || !vector.workspace_key) continue
    const { name, project_id, environment, key, epoch, nonce, policy, plaintext, value } = vector
    test(name, () => {
      const derived = environmentKey(hex(vector.workspace_key), project_id, environment, epoch)
      expect(derived.toHex()).toBe(vector.environment_key)
      const place = { projectId: project_id, environment, key }
      const sealed = sealSecretValue(derived, place, policy, epoch, utf8(plaintext), hex(nonce))
      expect(toBase64(sealed)).toBe(value)
      expect(readValueEpoch(sealed)).toBe(epoch)
    })
  }
})

describe('tokens', () => {
  const isKind = (kind: string): kind is TokenKind => ['agt', 'wkl', 'ses', 'ref'].includes(kind)

  for (const { kind, id, secret, text, sealed_text, verifier, ...pair } of frozen.tokens) {
    test(`${kind} ${id}`, () => {
      if (!isKind(kind)) throw new Error('the vector has no token kind')
      const raw = hex(secret)
      expect(formatToken(kind, id, raw)).toBe(text)
      expect(parseToken(text)).toEqual({ kind, id, secret: raw })
      expect(formatSealedToken(id, raw)).toBe(sealed_text)
      expect(verifierOf(tokenAuth(id, raw)).toHex()).toBe(verifier)
      expect(tokenKeyPair(id, raw).privateKey.toHex()).toBe(pair.private_key)
      expect(tokenKeyPair(id, raw).publicKey.toHex()).toBe(pair.public_key)
      const sealed = parseToken(sealed_text)
      expect(sealed && deriveVerifier(sealed).toHex()).toBe(verifier)
    })
  }
})

test('an account has frozen vectors: password in NFKC, master key, sent data, fingerprint, recovery', async () => {
  const { account } = frozen
  const salt = fromBase64(account.key_salt) ?? new Uint8Array()
  const masterKey = await deriveMasterKey(account.password, salt, account.kdf)
  expect(masterKey.toHex()).toBe(account.master_key)
  expect(authKey(masterKey)).toBe(account.auth_key)
  expect(userKey(masterKey).toHex()).toBe(account.user_key)
  expect(x25519PublicKey(hex(account.private_key)).toHex()).toBe(account.public_key)
  expect(await fingerprint(Uint8Array.from(hex(account.public_key)))).toBe(account.fingerprint)
  expect(recoveryVerifier(hex(account.recovery_key))).toBe(account.recovery_verifier)
})

test('the check row has a frozen vector', async () => {
  const layer = OuterLayer.parse(frozen.check.encryption_key)
  expect(layer.primaryKeyId).toBe(frozen.check.key_id)
  expect(await layer.openCheck(hex(frozen.check.value))).toBe(true)
})

describe('refuses', () => {
  for (const vector of hostile) {
    test(vector.name, async () => {
      expect(await openVector(vector)).toBeNull()
    })
  }
})
