// tier: quick
/** Digests, details and release envelopes of approvals (protocol 14.2 and 14.3), with fixed bytes. */
import { describe, expect, test } from 'bun:test'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import {
  type ApprovalCall,
  approvalCall,
  comparePlaces,
  listCoveredHeaders,
} from '../../../../src/core/crypto/approval/call.ts'
import { openDetails, sealDetails } from '../../../../src/core/crypto/approval/details.ts'
import { callDigest } from '../../../../src/core/crypto/approval/digest.ts'
import {
  isReleaseEnvelope,
  openRelease,
  sealRelease,
} from '../../../../src/core/crypto/approval/release_envelope.ts'
import { concat, fromBase64, lp, utf8 } from '../../../../src/core/crypto/encoding.ts'
import { hkdf, hmac, openGcm, sealGcm } from '../../../../src/core/crypto/primitives.ts'
import { tokenKeyPair } from '../../../../src/core/crypto/token.ts'
import { LOW_ORDER_KEYS } from '../../../support/low_order.ts'
import vectors from '../../../vectors/approvals-v3.json'
import { token } from '../../../vectors/protocol-v2.json'
import { referenceSeal } from '../hpke_reference.ts'

const hex = (text: string) => Uint8Array.fromHex(text)
const key = hex(vectors.environment_key)
const call: ApprovalCall = approvalCall.parse(vectors.call)
const { workspace_id, approval_id, nonce, body, reason, sealed } = vectors.details
const details = { call, body, reason }
const OTHER_ID = '01920000-0000-7000-8000-000000000999'

describe('the digest of a call', () => {
  test('the digest of a call has the bytes of the vector', () => {
    expect(canonicalize(call)).toBe(vectors.jcs)
    expect(callDigest(key, call)).toBe(vectors.digest)
    const own = hkdf(key, new Uint8Array(), lp('cloakroom/v3/approval-digest'))
    const mac = hmac(own, utf8(vectors.jcs)).toBase64({ alphabet: 'base64url', omitPadding: true })
    expect(mac).toBe(vectors.digest)
  })

  test('the digest of a call differs for another key and for a change in any field', () => {
    const [first, second] = call.secrets
    const others: ApprovalCall[] = [
      { ...call, workspace_id: OTHER_ID },
      { ...call, token_id: OTHER_ID },
      { ...call, method: 'PUT' },
      { ...call, target_url: `${call.target_url}&x=1` },
      { ...call, headers: call.headers.slice(1) },
      { ...call, body_sha256: null },
      { ...call, secrets: first ? [first] : [] },
      { ...call, secrets: second ? [second] : [] },
    ]
    const digests = [
      callDigest(
        key.map((byte) => byte ^ 1),
        call,
      ),
    ]
    for (const other of others) digests.push(callDigest(key, other))
    expect(new Set([...digests, vectors.digest]).size).toBe(others.length + 2)
  })
})

test('headers are in lower case and sorted, without those that vary between attempts', () => {
  const headers = {
    'X-Service-Account': 'acct',
    'X-Stainless-Retry-Count': '1',
    'Content-Type': 'application/json',
    Authorization: 'Bearer SVC_SECRET_KEY',
    'User-Agent': 'agent/1',
    Date: 'today',
    'Accept-Encoding': 'gzip',
    'Content-Length': '4',
    traceparent: '00',
    tracestate: 'a=b',
    baggage: 'a=b',
    'Idempotency-Key': '1',
    'X-Request-Id': '1',
    'X-Client-Request-Id': '1',
    'X-Stainless': 'kept',
  }
  expect(listCoveredHeaders(headers)).toEqual([
    ['authorization', 'Bearer SVC_SECRET_KEY'],
    ['content-type', 'application/json'],
    ['x-service-account', 'acct'],
    ['x-stainless', 'kept'],
  ])
})

test('headers that vary between attempts are covered if a placeholder is in them', () => {
  const headers = { Baggage: 'a=SVC_SECRET_KEY', 'X-Request-Id': 'SVC_SECRET_KEY', Date: 'today' }
  expect(listCoveredHeaders(headers)).toEqual([
    ['baggage', 'a=SVC_SECRET_KEY'],
    ['x-request-id', 'SVC_SECRET_KEY'],
  ])
})

describe('a call is rejected', () => {
  const [first, second] = vectors.call.secrets
  test.each([
    ['without secrets', { secrets: [] }],
    ['with secrets out of order', { secrets: [second, first] }],
    ['with a secret listed twice', { secrets: [first, first] }],
    ['with headers out of order', { headers: [...vectors.call.headers].reverse() }],
    ['with a header in upper case', { headers: [['Accept', 'x']] }],
    ['with a header that is never covered', { headers: [['user-agent', 'x']] }],
    ['with a field too many', { note: '' }],
    ['with a hash that is not canonical', { body_sha256: `${vectors.call.body_sha256}=` }],
  ])('%s', (_, change) => {
    expect(approvalCall.safeParse({ ...vectors.call, ...change }).success).toBe(false)
  })
})

test('places compare by project, then environment, then name', () => {
  const place = { project_id: 'b', environment: 'b', key: 'b' }
  expect(comparePlaces(place, { ...place })).toBe(0)
  expect(comparePlaces({ project_id: 'a', environment: 'z', key: 'z' }, place)).toBe(-1)
  expect(comparePlaces({ ...place, environment: 'c', key: 'a' }, place)).toBe(1)
  expect(comparePlaces({ ...place, key: '_' }, { ...place, key: 'Z' })).toBe(1)
})

describe('details', () => {
  test('approval details have the bytes of the vector, and open to the sealed text', () => {
    const bytes = sealDetails(key, workspace_id, approval_id, details, hex(nonce))
    expect(bytes.toHex()).toBe(sealed)
    expect(openDetails(key, workspace_id, approval_id, bytes)).toEqual(details)
    const own = hkdf(key, hex(approval_id.replaceAll('-', '')), lp('cloakroom/v3/approval-key'))
    const data = lp(
      'cloakroom/v3/approval-details',
      hex(workspace_id.replaceAll('-', '')),
      hex(approval_id.replaceAll('-', '')),
    )
    const text = openGcm(own, hex(nonce), data, bytes.subarray(13))
    expect(text && new TextDecoder().decode(text)).toBe(canonicalize(details) ?? 'missing')
  })

  test('approval details do not open for another approval, workspace or key, nor with a changed byte', () => {
    const bytes = hex(sealed)
    expect(openDetails(key, workspace_id, OTHER_ID, bytes)).toBeNull()
    expect(openDetails(key, OTHER_ID, approval_id, bytes)).toBeNull()
    expect(openDetails(new Uint8Array(32), workspace_id, approval_id, bytes)).toBeNull()
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = bytes.with(at, (bytes[at] ?? 0) ^ 1)
      expect(openDetails(key, workspace_id, approval_id, changed)).toBeNull()
    }
    for (let length = 0; length < 30; length++) {
      expect(openDetails(key, workspace_id, approval_id, bytes.subarray(0, length))).toBeNull()
    }
  })

  test('approval details do not open if the sealed text is not canonical or not of the form', () => {
    const own = hkdf(key, hex(approval_id.replaceAll('-', '')), lp('cloakroom/v3/approval-key'))
    const ids = [workspace_id, approval_id].map((id) => hex(id.replaceAll('-', '')))
    const data = lp('cloakroom/v3/approval-details', ...ids)
    const open = (text: string) => {
      const message = sealGcm(own, hex(nonce), data, utf8(text))
      const bytes = concat(Uint8Array.of(1), hex(nonce), message)
      return openDetails(key, workspace_id, approval_id, bytes)
    }
    const text = canonicalize(details) ?? ''
    expect(open(text)).toEqual(details)
    const tooLong = { ...details, body: 'x'.repeat(65_537) }
    const chatty = { ...details, reason: 'x'.repeat(301) }
    const texts = ['', 'null', '{}', `${text} `, ` ${text}`, '[1', '{"call":null}']
    for (const odd of [...texts, canonicalize(tooLong) ?? '', canonicalize(chatty) ?? '']) {
      expect(open(odd)).toBeNull()
    }
  })
})

describe('a release envelope', () => {
  const place = {
    workspaceId: workspace_id,
    tokenId: call.token_id,
    approvalId: approval_id,
    projectId: call.secrets[1]?.project_id ?? '',
    environment: 'production',
    key: 'STRIPE_API_KEY',
  }
  const { privateKey, publicKey } = tokenKeyPair(token.token_id, hex(token.secret))
  const vector = vectors.envelope

  test('a release envelope opens from the bytes of the vector, which an independent implementation sealed', () => {
    const { enc, ciphertext } = referenceSeal({
      ephemeralPrivateKey: hex(vector.ephemeral_private_key),
      recipientPublicKey: publicKey,
      info: utf8('cloakroom/v3/release-envelope'),
      additionalData: hex(vector.additional_data),
      plaintext: hex(vector.value),
      aead: 2,
    })
    const bytes = concat(Uint8Array.of(1), enc, ciphertext)
    expect(bytes.toBase64()).toBe(vector.sealed_base64)
    expect(openRelease(place, privateKey, bytes)?.toHex()).toBe(vector.value)
  })

  test('a release envelope opens to the value at its place only', async () => {
    const sizes = fc.constantFrom(0, 1, 1000, 98_304)
    await fc.assert(
      fc.asyncProperty(sizes, async (length) => {
        const value = new Uint8Array(length).fill(7)
        const bytes = await sealRelease(place, publicKey, value)
        expect(isReleaseEnvelope(bytes)).toBe(true)
        expect(openRelease(place, privateKey, bytes)).toEqual(value)
      }),
      { numRuns: 8 },
    )
    const bytes = fromBase64(vector.sealed_base64) ?? new Uint8Array()
    const elsewhere = [
      { workspaceId: OTHER_ID },
      { tokenId: OTHER_ID },
      { approvalId: OTHER_ID },
      { projectId: OTHER_ID },
      { environment: 'staging' },
      { key: 'OTHER' },
      { key: 'not', projectId: 'a UUID' },
    ]
    for (const change of elsewhere) {
      expect(openRelease({ ...place, ...change }, privateKey, bytes)).toBeNull()
    }
    expect(openRelease(place, new Uint8Array(32).fill(1), bytes)).toBeNull()
    expect(openRelease(place, privateKey, bytes.with(0, 2))).toBeNull()
    expect(openRelease(place, privateKey, bytes.subarray(0, 48))).toBeNull()
  })

  test('a release envelope is not sealed for a value that is too long or for a key of low order', async () => {
    const long = sealRelease(place, publicKey, new Uint8Array(98_305))
    await expect(long).rejects.toThrow(RangeError)
    for (const low of LOW_ORDER_KEYS) {
      await expect(sealRelease(place, hex(low), new Uint8Array(1))).rejects.toThrow('low order')
    }
  })
})
