// tier: quick
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { fromBase64, toBase64 } from '../../../src/core/crypto/encoding.ts'
import {
  isTokenEnvelope,
  openMemberEnvelope,
  openTokenEnvelope,
  sealMemberEnvelope,
  sealTokenEnvelope,
} from '../../../src/core/crypto/envelope.ts'
import { generateKeyPair } from '../../support/key_pair.ts'
import { LOW_ORDER_KEYS, ORDINARY_KEYS } from '../../support/low_order.ts'

const ids = fc.uuid()
const keys = fc.uint8Array({ minLength: 32, maxLength: 32 })
const epochs = fc.integer({ min: 1, max: 65_535 })
const pair = generateKeyPair()
const key = new Uint8Array(32).fill(9)
const tokenPlace = {
  workspaceId: '01920000-0000-7000-8000-000000000001',
  tokenId: '01920000-0000-7000-8000-000000000003',
  projectId: '01920000-0000-7000-8000-000000000002',
  environment: 'production',
  epoch: 1,
}
const memberPlace = {
  workspaceId: tokenPlace.workspaceId,
  recipientPublicKey: pair.publicKey,
  epoch: 1,
}

test('a member opens an envelope that was sealed to them', async () => {
  await fc.assert(
    fc.asyncProperty(ids, epochs, keys, async (workspaceId, epoch, workspaceKey) => {
      const place = { workspaceId, recipientPublicKey: pair.publicKey, epoch }
      const envelope = await sealMemberEnvelope(place, workspaceKey)
      expect(await openMemberEnvelope(place, pair.privateKey, envelope)).toEqual(workspaceKey)
    }),
    { numRuns: 20 },
  )
})

test('a token opens an envelope that was sealed to it, and the server recognises the form', async () => {
  const places = fc.record({
    workspaceId: ids,
    tokenId: ids,
    projectId: ids,
    environment: fc.string(),
    epoch: epochs,
  })
  await fc.assert(
    fc.asyncProperty(places, keys, async (place, environmentKey) => {
      const envelope = fromBase64(await sealTokenEnvelope(place, pair.publicKey, environmentKey))
      if (envelope === null) throw new Error('the envelope is not base64')
      expect(isTokenEnvelope(envelope)).toBe(true)
      expect(await openTokenEnvelope(place, pair.privateKey, envelope)).toEqual(environmentKey)
    }),
    { numRuns: 20 },
  )
})

test('an envelope of neither kind opens with any single bit flipped', async () => {
  const token = fromBase64(await sealTokenEnvelope(tokenPlace, pair.publicKey, key))
  const member = fromBase64(await sealMemberEnvelope(memberPlace, key))
  if (token === null || member === null) throw new Error('the envelope is not base64')
  for (let bit = 0; bit < token.length * 8; bit++) {
    const flip = (bytes: Uint8Array) =>
      bytes.with(bit >> 3, (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)))
    expect(await openTokenEnvelope(tokenPlace, pair.privateKey, flip(token))).toBeNull()
    const text = toBase64(flip(member))
    expect(await openMemberEnvelope(memberPlace, pair.privateKey, text)).toBeNull()
  }
})

test('two envelopes of one key share no ephemeral key', async () => {
  const [one, two] = await Promise.all([
    sealTokenEnvelope(tokenPlace, pair.publicKey, key),
    sealTokenEnvelope(tokenPlace, pair.publicKey, key),
  ])
  expect(one.slice(0, 44)).not.toBe(two.slice(0, 44))
})

test('no envelope is sealed to a point of low order', async () => {
  for (const hex of LOW_ORDER_KEYS) {
    const lowOrder = Uint8Array.fromHex(hex)
    await expect(sealTokenEnvelope(tokenPlace, lowOrder, key)).rejects.toThrow('low order')
    const place = { ...memberPlace, recipientPublicKey: lowOrder }
    await expect(sealMemberEnvelope(place, key)).rejects.toThrow('low order')
  }
  for (const hex of ORDINARY_KEYS) {
    expect(await sealTokenEnvelope(tokenPlace, Uint8Array.fromHex(hex), key)).toBeString()
  }
})

test('an envelope carries keys of 32 bytes and nothing else', async () => {
  for (const length of [0, 16, 31, 33]) {
    const wrong = new Uint8Array(length)
    await expect(sealTokenEnvelope(tokenPlace, pair.publicKey, wrong)).rejects.toThrow(RangeError)
    await expect(sealMemberEnvelope(memberPlace, wrong)).rejects.toThrow(RangeError)
  }
})

test('random bytes do not open and do not throw', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 80, maxLength: 80 }), async (bytes) => {
      const envelope = Uint8Array.of(1, ...bytes)
      expect(await openTokenEnvelope(tokenPlace, pair.privateKey, envelope)).toBeNull()
    }),
    { numRuns: 50 },
  )
})

test('a private key of another length or an invalid UUID opens nothing', async () => {
  const envelope = fromBase64(await sealTokenEnvelope(tokenPlace, pair.publicKey, key))
  if (envelope === null) throw new Error('the envelope is not base64')
  expect(await openTokenEnvelope(tokenPlace, new Uint8Array(31), envelope)).toBeNull()
  const nowhere = { ...tokenPlace, projectId: 'nowhere' }
  expect(await openTokenEnvelope(nowhere, pair.privateKey, envelope)).toBeNull()
})
