// tier: quick
import { describe, expect, test } from 'bun:test'
import {
  type AccountKeys,
  createAccountKeys,
  ownFingerprint,
  unwrapKeys,
  wrapKeys,
} from '../../src/client/account/account_keys.ts'
import { authKey, deriveMasterKey, KDF_DEFAULT, userKey } from '../../src/client/account/keys.ts'
import { fromBase64, fromBase64Url, toBase64 } from '../../src/core/crypto/encoding.ts'
import { identityFingerprint, requireKeyProof } from '../../src/sigchain/index.ts'
import { generateKeyPair } from '../support/key_pair.ts'

const EMAIL = 'Ada@example.com'
const PASSWORD = 'correct horse battery staple'
const account = await createAccountKeys(EMAIL, PASSWORD)
const { keys, ...sent } = account
const former: AccountKeys = { ...generateKeyPair(), seed: null }
const shownOf = ({ publicKey }: AccountKeys) => ({
  public_key: toBase64(publicKey),
  signing_key: null,
})

describe('a new account', () => {
  test("a new account can be unlocked again from the password and the server's data", async () => {
    const keySalt = fromBase64(sent.key_salt)
    if (keySalt === null) throw new Error('not base64')
    const masterKey = await deriveMasterKey(PASSWORD, keySalt, sent.kdf)
    expect(authKey(masterKey)).toBe(sent.password)
    const wrapped = sent.encrypted_private_key
    expect(await unwrapKeys('account', userKey(masterKey), wrapped, sent)).toEqual(keys)
    expect(sent.kdf).toEqual(KDF_DEFAULT)
    expect(fromBase64(wrapped)?.[0]).toBe(2)
  })

  test('a new account sends neither the password nor anything that unlocks its keys', async () => {
    const text = JSON.stringify(sent)
    expect(text).not.toContain(PASSWORD)
    for (const key of [keys.privateKey, keys.seed ?? keys.privateKey]) {
      expect(text).not.toContain(toBase64(key))
    }
    const authenticator = fromBase64Url(sent.password) ?? new Uint8Array()
    expect(authenticator).toHaveLength(32)
    expect(await unwrapKeys('account', authenticator, sent.encrypted_private_key, sent)).toBeNull()
  })

  test('a new account proves that address and keys belong together, whatever the case of the address', async () => {
    await requireKeyProof(sent, EMAIL.toLowerCase(), sent.key_proof)
    const elsewhere = requireKeyProof(sent, 'eve@example.com', sent.key_proof)
    await expect(elsewhere).rejects.toThrow('signature')
  })
})

describe.each(['account', 'recovery'] as const)('the copy for %s', (copy) => {
  const key = new Uint8Array(32).fill(6)
  const other = copy === 'account' ? 'recovery' : 'account'

  test('the copy opens in both forms, for the named keys', async () => {
    const wrapped = await wrapKeys(copy, key, keys)
    expect(await unwrapKeys(copy, key, wrapped, sent)).toEqual(keys)
    const old = await wrapKeys(copy, key, former)
    expect(fromBase64(old)?.[0]).toBe(1)
    expect(await unwrapKeys(copy, key, old, shownOf(former))).toEqual(former)
  })

  test('the copy does not open as the other copy', async () => {
    const wrapped = await wrapKeys(copy, key, keys)
    expect(await unwrapKeys(other, key, wrapped, sent)).toBeNull()
  })

  test('the copy does not open when the server drops the signing key, or invents one', async () => {
    const wrapped = await wrapKeys(copy, key, keys)
    expect(await unwrapKeys(copy, key, wrapped, shownOf(keys))).toBeNull()
    const old = await wrapKeys(copy, key, former)
    const invented = { ...shownOf(former), signing_key: sent.signing_key }
    expect(await unwrapKeys(copy, key, old, invented)).toBeNull()
  })
})

test('the fingerprint is that of both keys, or of the public key alone', async () => {
  expect(await ownFingerprint(keys)).toBe(await identityFingerprint(sent))
  expect(await ownFingerprint(keys)).toMatch(/^([a-z2-7]{4} ){5}[a-z2-7]{4}$/)
  expect(await ownFingerprint(former)).toMatch(/^([0-9a-f]{4} ){15}[0-9a-f]{4}$/)
})

test('a seed that was wiped meanwhile, or is another, is never sealed', async () => {
  const key = new Uint8Array(32).fill(1)
  for (const seed of [new Uint8Array(32), new Uint8Array(32).fill(9)]) {
    for (const copy of ['account', 'recovery'] as const) {
      await expect(wrapKeys(copy, key, { ...keys, seed })).rejects.toThrow(
        'belongs to another account',
      )
    }
  }
  expect(await wrapKeys('account', key, keys)).toBeString()
})
