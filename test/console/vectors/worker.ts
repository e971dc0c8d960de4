/**
 * A worker that runs the tests of the vectors and starts like the keys' worker: with the browser's X25519 and
 * Ed25519, or, named `without`, in a browser that has neither.
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import { ensureCurves } from '../../../src/console/web/keys/curves.ts'
import '../../client/account_seed.test.ts'
import '../../core/crypto/approval/approval.test.ts'
import '../../core/crypto/envelope.test.ts'
import '../../core/crypto/frozen_vectors.test.ts'
import '../../core/crypto/held_secret.test.ts'
import '../../core/crypto/protocol_vectors.test.ts'
import '../../core/crypto/published_vectors.test.ts'
import '../../sigchain/vectors.test.ts'
import { signEd25519, signingKeyOf, verifyEd25519 } from '../../../src/core/crypto/ed25519.ts'
import { concat, utf8 } from '../../../src/core/crypto/encoding.ts'
import { x25519 } from '../../../src/core/crypto/primitives.ts'
import { openVector } from '../../core/crypto/vector_support.ts'
import { member_envelope, token, token_envelope } from '../../vectors/protocol-v1.json'
import rfc7748 from '../../vectors/rfc7748.json'
import { expect, runAll, test } from './bun_test.ts'

const hex = (text: string) => Uint8Array.fromHex(text)

test('published envelopes open, and X25519 matches RFC 7748, without node:crypto', async () => {
  const { envelope: member, ...place } = member_envelope
  const { recipient_private_key: private_key, recipient_public_key: public_key } = place
  const keys = { private_key, public_key }
  const opened = await openVector({ ...place, ...keys, kind: 'member_envelope', value: member })
  expect(opened).toEqual(hex(place.plaintext))
  const { envelope: value, ...rest } = token_envelope
  const given = { ...rest, private_key: token.token_private_key, kind: 'token_envelope', value }
  expect(await openVector(given)).toEqual(hex(rest.plaintext))
  const { shared } = x25519(hex(rfc7748.alice_private), hex(rfc7748.bob_public))
  expect(shared.toHex()).toBe(rfc7748.shared_secret)
})

test('a signature that verifies only with the cofactor is rejected', async () => {
  const torsion = ed25519.Point.fromHex(
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  )
  const data = utf8('signed by a key with a part of low order')
  const key = ed25519.Point.BASE.multiply(7n)
  const publicKey = Uint8Array.from(key.add(torsion).toBytes())
  const nonce = 11n
  const r = Uint8Array.from(ed25519.Point.BASE.multiply(nonce).toBytes())
  const { Fn } = ed25519.Point
  const { sha512 } = await import('@noble/hashes/sha2.js')
  const hash = Fn.create(littleEndian(sha512(concat(r, publicKey, data))))
  const s = Uint8Array.fromHex(Fn.add(nonce, Fn.mul(hash, 7n)).toString(16).padStart(64, '0'))
  const signature = concat(r, s.toReversed())
  expect(ed25519.verify(signature, data, publicKey, { zip215: false })).toBe(true)
  expect(await verifyEd25519(publicKey, data, signature)).toBe(false)
})

test('@noble/curves and the product make the same signature, and the product verifies it', async () => {
  for (let each = 0; each < 20; each += 1) {
    const secret = crypto.getRandomValues(new Uint8Array(32))
    const data = crypto.getRandomValues(new Uint8Array(each * 7))
    const { privateKey, publicKey } = await signingKeyOf(secret)
    const signature = await signEd25519(privateKey, data)
    expect([...signature]).toEqual([...ed25519.sign(data, secret)])
    expect(await verifyEd25519(publicKey, data, signature)).toBe(true)
    expect(await verifyEd25519(publicKey, concat(data, Uint8Array.of(0)), signature)).toBe(false)
  }
})

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytes.toReversed().toHex()}`)
}

/** Counts the browser's own calls for these curves. */
function watchCurves(isWithout: boolean): () => number {
  let asked = 0
  const names = ['X25519', 'Ed25519']
  const { prototype } = SubtleCrypto
  for (const method of Object.keys(Object.getOwnPropertyDescriptors(prototype))) {
    const original = Reflect.get(prototype, method)
    const value = async function (this: SubtleCrypto, ...given: unknown[]) {
      if (given.some((each) => names.includes(String(Object(each).name ?? each)))) {
        if (isWithout) throw new DOMException('', 'NotSupportedError')
        asked += 1
      }
      return original.apply(this, given)
    }
    if (typeof original === 'function') Object.defineProperty(prototype, method, { value })
  }
  return () => asked
}

const isWithout = self.name === 'without'
const asked = watchCurves(isWithout)
await ensureCurves()
const before = asked()
const outcomes = await runAll()
self.postMessage({ outcomes, asked: asked() - before })
