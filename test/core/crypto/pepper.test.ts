// tier: quick
import { describe, expect, test } from 'bun:test'
import { uuidv7 } from '../../../src/core/crypto/encoding.ts'
import { Pepper, secretKeysOf, type TokenIdentity } from '../../../src/core/crypto/pepper.ts'
import fixture from '../../vectors/pepper.json'

const OLD = 'the old secret key of 32 characters'
const NEW = 'the new secret key of 32 characters'
const verifier = new Uint8Array(32).fill(7)
const token: TokenIdentity = { kind: 'agt', id: uuidv7(), ownerId: uuidv7() }

describe.each(fixture.vectors)('of $secret_key', ({ secret_key, key_id, tokens, passwords }) => {
  const pepper = Pepper.parse(secret_key)

  test('the ID of the key equals the vector', () => {
    expect(pepper.keyIds).toEqual([key_id])
  })

  test.each(tokens)('a row of kind $kind equals the vector', (vector) => {
    const identity = {
      kind: vector.kind as TokenIdentity['kind'],
      id: vector.token_id,
      ownerId: vector.owner_id,
    }
    const row = pepper.sealVerifier(identity, Uint8Array.fromHex(vector.verifier))
    expect(row.toHex()).toBe(key_id + vector.mac)
  })

  test.each(passwords)('the password $password equals the vector', (vector) => {
    const peppered = pepper.pepperPassword(vector.user_id, vector.password)
    expect(peppered).toBe(vector.argon2id_input)
  })
})

describe('a stored row', () => {
  const pepper = Pepper.parse(OLD)
  const row = pepper.sealVerifier(token, verifier)

  test('a stored row matches its token', () => {
    expect(pepper.matchVerifier(token, verifier, row)).toBe('current')
  })

  const others: [what: string, identity: TokenIdentity | null, verifier: Uint8Array][] = [
    ['another kind', { ...token, kind: 'wkl' }, verifier],
    ['another id', { ...token, id: uuidv7() }, verifier],
    ['another owner', { ...token, ownerId: uuidv7() }, verifier],
    ['another secret', token, new Uint8Array(32)],
    ['nothing', null, verifier],
  ]
  test.each(others)('a stored row does not match %s', (_, identity, presented) => {
    expect(pepper.matchVerifier(identity, presented, row)).toBe('wrong')
  })

  test('a stored row does not match with a different bit or length', () => {
    for (let at = 0; at < row.length; at++) {
      const altered = Uint8Array.from(row)
      altered[at] = (altered[at] ?? 0) ^ 1
      expect(pepper.matchVerifier(token, verifier, altered)).toBe('wrong')
    }
    for (const length of [0, 3, 4, 32, 35]) {
      expect(pepper.matchVerifier(token, verifier, row.slice(0, length))).toBe('wrong')
    }
    expect(pepper.matchVerifier(token, verifier, new Uint8Array([...row, 0]))).toBe('wrong')
    expect(pepper.matchVerifier(token, verifier, null)).toBe('wrong')
  })

  test('a row without the MAC, as version 1 stored it, matches nothing', () => {
    expect(pepper.matchVerifier(token, verifier, verifier)).toBe('wrong')
  })
})

describe('a list of keys', () => {
  const old = Pepper.parse(OLD)
  const rotated = Pepper.parse(` ${NEW} , ${OLD} `)
  const row = old.sealVerifier(token, verifier)

  test('a list of keys tries all and seals with the first', () => {
    expect(rotated.matchVerifier(token, verifier, row)).toBe('older')
    const renewed = rotated.sealVerifier(token, verifier)
    expect(rotated.matchVerifier(token, verifier, renewed)).toBe('current')
    expect(Pepper.parse(NEW).matchVerifier(token, verifier, renewed)).toBe('current')
    expect(Pepper.parse(NEW).matchVerifier(token, verifier, row)).toBe('wrong')
    expect(rotated.keyIds).toEqual([...Pepper.parse(NEW).keyIds, ...old.keyIds])
  })

  test('a list of keys peppers a password under the key of its hash, or the first', () => {
    const [id] = old.keyIds
    const user = uuidv7()
    expect(rotated.pepperPassword(user, 'x', id)).toBe(old.pepperPassword(user, 'x'))
    expect(rotated.pepperPassword(user, 'x')).toBe(Pepper.parse(NEW).pepperPassword(user, 'x'))
    expect(rotated.pepperPassword(user, 'x', 'unknown')).toBe(rotated.pepperPassword(user, 'x'))
    expect(old.pepperPassword(uuidv7(), 'x')).not.toBe(old.pepperPassword(user, 'x'))
  })

  test('a list of keys does not name a key twice', () => {
    expect(() => Pepper.parse(`${OLD},${OLD}`)).toThrow('the same key')
    expect(secretKeysOf(`${NEW}, ${OLD}`)).toEqual([NEW, OLD])
  })
})
