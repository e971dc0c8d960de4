// tier: quick
/** AWS Signature Version 4A, made again: against the keys of aws-c-auth's tests and requests that AWS's runtime signed. */
import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/core/fault.ts'
import { Secret } from '../../src/core/secret.ts'
import type { CallBody } from '../../src/outbound/call.ts'
import { isSignedSo, signAgain } from '../../src/outbound/signing/aws_resign.ts'
import { awsSignatureIn } from '../../src/outbound/signing/aws_signature.ts'
import { ecdsaKeyOf, pairOf } from '../../src/outbound/signing/aws_sigv4a.ts'
import { requests } from '../vectors/aws_sigv4a.json'

// aws-c-auth, tests/key_derivation_tests.c and tests/aws-signing-test-suite/v4a.
test.each([
  [
    'AKISORANDOMAASORANDOM',
    'q+jcrXGc+0zWN6uzclKVhvMmUsIfRPa4rlRandom',
    '15d242ceebf8d8169fd6a8b5a746c41140414c3b07579038da06af89190fffcb',
    '0515242cedd82e94799482e4c0514b505afccf2c0c98d6a553bf539f424c5ec0',
  ],
  [
    'AKIDEXAMPLE',
    'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    'b6618f6a65740a99e650b33b6b4b5bd0d43b176d721a3edfea7e7d2d56d936b1',
    '865ed22a7eadc9c5cb9d2cbaca1b3699139fedc5043dc6661864218330c8e518',
  ],
])('the key pair of %s is that of AWS', (id, secret, x, y) => {
  const pair = pairOf(ecdsaKeyOf(id, Buffer.from(secret)))
  const hex = (text: string) => Buffer.from(text, 'base64url').toString('hex')
  expect([hex(pair.x), hex(pair.y)]).toEqual([x, y])
})

const valuesOf = (id: string, key: string) =>
  new Map(
    Object.entries({ AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: key }).map(([name, value]) => [
      name,
      new Secret(Buffer.from(value)),
    ]),
  )
const theirs = valuesOf('SVC_SECRET_AWS_ACCESS_KEY_ID', 'of no use')

type Sent = { method: string; path: string; headers: Record<string, string | undefined> }

const readRequest = ({ method, path: whole, headers: given }: Sent) => {
  const [path = '', search = ''] = whole.split(/(?=\?)/)
  const headers = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const signature = awsSignatureIn(headers, search)
  if (!signature) throw new Error('not recognised')
  const stream = new ReadableStream<Uint8Array>()
  const body: CallBody = method === 'PUT' ? { stream, length: null } : null
  const authority = 'bucket.s3.example.com'
  const request = { method, authority, path, search, headers: Object.entries(headers), body }
  return { signature, request }
}

describe.each(requests.map((one) => [one.name, one] as const))('%s', (_, sent) => {
  const { signature, request } = readRequest(sent)

  test('has the text that AWS signs', () => {
    expect(isSignedSo(signature, request, theirs)).toBe(true)
    for (const other of [
      { ...request, path: `${request.path}x` },
      { ...request, search: `${request.search}&x=1` },
      { ...request, method: 'DELETE' },
      { ...request, authority: 'other.example.com' },
    ]) {
      expect(isSignedSo(signature, other, theirs)).toBe(false)
    }
    expect(isSignedSo(signature, request, valuesOf('AKID', 'of no use'))).toBe(false)
  })

  test('is signed again, for another access key', () => {
    const real = valuesOf('AKIDEXAMPLE', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY')
    const made = signAgain(signature, request, real)
    const text = JSON.stringify([made.headers, made.search])
    expect(text).toContain('AKIDEXAMPLE')
    expect(text).not.toContain('SVC_SECRET')
    // As it would be if its client had had the real key under the name of the placeholder.
    const named = text.replaceAll('AKIDEXAMPLE', 'SVC_SECRET_AWS_ACCESS_KEY_ID')
    const [headers, search] = JSON.parse(named) as [[string, string][], string]
    const path = `${request.path}${search}`
    const again = readRequest({ ...sent, path, headers: Object.fromEntries(headers) })
    expect(isSignedSo(again.signature, again.request, real)).toBe(true)
    expect(isSignedSo(again.signature, again.request, theirs)).toBe(false)
    expect(made.signatures.map(({ name }) => name)).toEqual([
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SECRET_ACCESS_KEY',
    ])
  })
})

test.each([
  ['AWS4-ECDSA-P256-SHA256', '20261122/eu-central-1/s3', 'UNSIGNED-PAYLOAD'],
  ['AWS4-HMAC-SHA256', '20261122/s3', 'UNSIGNED-PAYLOAD'],
  ['AWS4-ECDSA-P256-SHA256', '20261122/s3', 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD'],
  ['AWS4-ECDSA-P256-SHA256', '20261122/s3', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'],
])('%s of %s with %s is refused', (algorithm, scope, payload) => {
  const headers = {
    authorization: `${algorithm} Credential=SVC_SECRET_AWS_ACCESS_KEY_ID/${scope}/aws4_request, SignedHeaders=host, Signature=00`,
    'x-amz-date': '20261122T040506Z',
    'x-amz-content-sha256': payload,
  }
  expect(() => awsSignatureIn(headers, '')).toThrow(Fault)
})
