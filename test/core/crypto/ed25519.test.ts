// tier: quick
import { describe, expect, test } from 'bun:test'
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import fc from 'fast-check'
import {
  isSoundPoint,
  signEd25519,
  signingKeyOf,
  verifyEd25519,
} from '../../../src/core/crypto/ed25519.ts'
import { concat } from '../../../src/core/crypto/encoding.ts'

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
const FIELD = 2n ** 255n - 19n
const EIGHTH = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n

const SECRET = new Uint8Array(32).fill(7)
const DATA = new TextEncoder().encode('what is signed')

function littleEndian(number: bigint): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromHex(number.toString(16).padStart(64, '0')).reverse()
}

function der(prefix: string, key: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(prefix, 'hex'), key])
}

function spkiOf(publicKey: Uint8Array): KeyObject {
  const key = der('302a300506032b6570032100', publicKey)
  return createPublicKey({ key, format: 'der', type: 'spki' })
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytes.toReversed().toHex()}`)
}

describe('RFC 8032, section 7.1', () => {
  test.each([
    [
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    ],
    [
      '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
  ])('%s', async (secret, publicKey, message, signature) => {
    const key = await signingKeyOf(Uint8Array.fromHex(secret))
    const data = Uint8Array.fromHex(message)
    expect(key.publicKey.toHex()).toBe(publicKey)
    const signed = await signEd25519(key.privateKey, data)
    expect(signed.toHex()).toBe(signature)
    expect(await verifyEd25519(key.publicKey, data, signed)).toBe(true)
  })
})

describe('a signature', () => {
  test('a signature is valid for the other implementation of this machine, and the other way round', async () => {
    const { privateKey, publicKey } = await signingKeyOf(SECRET)
    const theirs = createPrivateKey({
      key: der('302e020100300506032b657004220420', SECRET),
      format: 'der',
      type: 'pkcs8',
    })
    const ours = await signEd25519(privateKey, DATA)
    expect(verify(null, DATA, spkiOf(publicKey), ours)).toBe(true)
    expect(await verifyEd25519(publicKey, DATA, new Uint8Array(sign(null, DATA, theirs)))).toBe(
      true,
    )
  })

  test('a signature with S above the order is rejected', async () => {
    const { privateKey, publicKey } = await signingKeyOf(SECRET)
    const signature = await signEd25519(privateKey, DATA)
    const s = numberOf(signature.subarray(32)) + ORDER
    const other = concat(signature.subarray(0, 32), littleEndian(s))
    expect(await verifyEd25519(publicKey, DATA, other)).toBe(false)
  })

  test('a signature with R of low order is rejected, although its equation holds', async () => {
    const { publicKey } = await signingKeyOf(SECRET)
    const sha512 = (...parts: Uint8Array[]) =>
      new Uint8Array(
        createHash('sha512')
          .update(concat(...parts))
          .digest(),
      )
    const scalar = sha512(SECRET).subarray(0, 32)
    scalar[0] = (scalar[0] ?? 0) & 248
    scalar[31] = ((scalar[31] ?? 0) & 127) | 64
    const r = littleEndian(1n)
    const challenge = numberOf(sha512(r, publicKey, DATA))
    const s = littleEndian((challenge * numberOf(scalar)) % ORDER)
    expect(verify(null, DATA, spkiOf(publicKey), concat(r, s))).toBe(true)
    expect(await verifyEd25519(publicKey, DATA, concat(r, s))).toBe(false)
  })

  test('a signature with any other bit is rejected', async () => {
    const { privateKey, publicKey } = await signingKeyOf(SECRET)
    const signature = await signEd25519(privateKey, DATA)
    for (let bit = 0; bit < 512; bit++) {
      const other = Uint8Array.from(signature)
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(await verifyEd25519(publicKey, DATA, other)).toBe(false)
    }
  })

  test.each([0, 31, 63, 65])('a signature of %d bytes is rejected', async (length) => {
    const { publicKey } = await signingKeyOf(SECRET)
    expect(await verifyEd25519(publicKey, DATA, new Uint8Array(length))).toBe(false)
  })
})

describe('a point', () => {
  const low = [0n, 1n, FIELD - 1n, EIGHTH, FIELD - EIGHTH]
  const above = Array.from({ length: 19 }, (_, index) => FIELD + BigInt(index))
  const signs = [0n, 2n ** 255n]

  test.each(signs.flatMap((sign) => [...low, ...above].map((y) => littleEndian(y + sign).toHex())))(
    '%s is not a valid key',
    async (hex) => {
      const point = Uint8Array.fromHex(hex)
      expect(isSoundPoint(point)).toBe(false)
      expect(await verifyEd25519(point, DATA, new Uint8Array(64).fill(1, 0, 1))).toBe(false)
    },
  )

  test.each([2n, 3n, FIELD - 2n, EIGHTH + 1n, EIGHTH - 1n])(
    'a point beside it, %d, is accepted',
    (y) => {
      for (const sign of signs) expect(isSoundPoint(littleEndian(y + sign))).toBe(true)
    },
  )

  test('a point has 32 bytes', () => {
    for (const length of [0, 31, 33])
      expect(isSoundPoint(new Uint8Array(length).fill(3))).toBe(false)
  })

  test("a key's point is valid", async () => {
    const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
    await fc.assert(
      fc.asyncProperty(seed, async (bytes) => {
        const { publicKey } = await signingKeyOf(Uint8Array.from(bytes))
        expect(isSoundPoint(publicKey)).toBe(true)
      }),
    )
  })
})
