// tier: quick
import { describe, expect, test } from 'bun:test'
import { createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto'
import fc from 'fast-check'
import { isLowOrder } from '../../../src/core/crypto/low_order.ts'
import { LOW_ORDER_KEYS, ORDINARY_KEYS } from '../../support/low_order.ts'

const PRIVATE = createPrivateKey({
  key: Buffer.from(`302e020100300506032b656e04220420${'77'.repeat(32)}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
})

/** Whether the platform's X25519 returns a secret for this public key; it rejects a zero secret. */
function givesSecret(publicKey: Uint8Array): boolean {
  const der = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), publicKey])
  try {
    const shared = diffieHellman({
      privateKey: PRIVATE,
      publicKey: createPublicKey({ key: der, format: 'der', type: 'spki' }),
    })
    return shared.some((byte) => byte !== 0)
  } catch {
    return false
  }
}

/** Keys of low order for an implementation that does not ignore the top bit. */
const UNMASKED = LOW_ORDER_KEYS.filter((hex) => givesSecret(Uint8Array.fromHex(hex)))

describe('a public key', () => {
  test.each(LOW_ORDER_KEYS)('%s is of low order', (hex) => {
    expect(isLowOrder(Uint8Array.fromHex(hex))).toBe(true)
  })

  test.each(ORDINARY_KEYS)('%s is not of low order', (hex) => {
    expect(isLowOrder(Uint8Array.fromHex(hex))).toBe(false)
    expect(givesSecret(Uint8Array.fromHex(hex))).toBe(true)
  })

  test('the low-order list contains every key with an all-zero X25519 result', () => {
    expect(LOW_ORDER_KEYS).toHaveLength(19)
    expect(UNMASKED).toHaveLength(5)
  })

  test('a random key is not of low order', () => {
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(fc.property(key, (bytes) => isLowOrder(bytes) === !givesSecret(bytes)))
  })
})
