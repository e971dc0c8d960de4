// tier: quick
/** The product's half of HPKE, compared with the library's and with a reference that reproduces RFC 9180's vectors. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import * as hpke from 'hpke'
import { hpkeOpen } from '../../../src/core/crypto/hpke_open.ts'
import { generateKeyPair } from '../../support/key_pair.ts'
import { LOW_ORDER_KEYS } from '../../support/low_order.ts'
import rfc9180 from '../../vectors/rfc9180.json'
import { referenceSeal } from './hpke_reference.ts'

const hex = (text: string) => Uint8Array.fromHex(text)
const recipient = generateKeyPair()
const suite = new hpke.CipherSuite(
  hpke.KEM_DHKEM_X25519_HKDF_SHA256,
  hpke.KDF_HKDF_SHA256,
  hpke.AEAD_AES_256_GCM,
)

test('HPKE opens values that the library sealed, of any length, info and additional data', async () => {
  const publicKey = await suite.DeserializePublicKey(recipient.publicKey)
  const bytes = fc.uint8Array({ maxLength: 100 })
  await fc.assert(
    fc.asyncProperty(bytes, bytes, bytes, async (plaintext, info, additionalData) => {
      const { encapsulatedSecret: encapsulatedKey, ciphertext } = await suite.Seal(
        publicKey,
        plaintext,
        { info, aad: additionalData },
      )
      const sealed = { encapsulatedKey, ciphertext, info, additionalData }
      expect(hpkeOpen(recipient.privateKey, sealed)).toEqual(new Uint8Array(plaintext))
      const other = (bytes: Uint8Array) => Uint8Array.of(...bytes, 0)
      for (const changed of [{ additionalData: other(additionalData) }, { info: other(info) }])
        expect(hpkeOpen(recipient.privateKey, { ...sealed, ...changed })).toBeNull()
      expect(hpkeOpen(generateKeyPair().privateKey, sealed)).toBeNull()
    }),
    { numRuns: 30 },
  )
})

test('HPKE opens values that were sealed with the keys of RFC 9180, A.1.1', () => {
  const parts = {
    info: hex(rfc9180.info),
    additionalData: hex(rfc9180.encryptions[0]?.aad ?? ''),
    plaintext: hex(rfc9180.plaintext),
  }
  const { enc, ciphertext } = referenceSeal({
    ...parts,
    ephemeralPrivateKey: hex(rfc9180.ephemeral_private_key),
    recipientPublicKey: hex(rfc9180.recipient_public_key),
    aead: 2,
  })
  expect(enc.toHex()).toBe(rfc9180.enc)
  const sealed = { ...parts, encapsulatedKey: enc, ciphertext }
  expect(hpkeOpen(hex(rfc9180.recipient_private_key), sealed)).toEqual(parts.plaintext)
})

test('HPKE accepts no point of low order and no key of another length', () => {
  const rest = { ciphertext: new Uint8Array(48), info: hex(''), additionalData: hex('') }
  const open = (encapsulatedKey: Uint8Array) =>
    hpkeOpen(recipient.privateKey, { ...rest, encapsulatedKey })
  // The others of the list are of low order for implementations that do not mask.
  for (const key of LOW_ORDER_KEYS.slice(0, 7)) expect(() => open(hex(key))).toThrow()
  for (const length of [0, 31, 33]) expect(() => open(new Uint8Array(length))).toThrow(RangeError)
  expect(open(generateKeyPair().publicKey)).toBeNull()
})
