// tier: quick
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Fault } from '../../src/core/fault.ts'
import { type DerivedKind, derivedKinds } from '../../src/core/policy/policy.ts'
import { checkRoot, MAX_ROOT_BYTES, readRoot } from '../../src/derivation/root.ts'
import { ec, encodeRoot, rsa, sampleRoot, samples } from './sample_roots.ts'

/** The fields for which a root is rejected. */
function refusedFields(kind: DerivedKind, change: Readonly<Record<string, unknown>>): string[] {
  const plaintext = encodeRoot({ ...samples[kind], ...change })
  return checkRoot(kind, plaintext).map(({ path }) => path)
}

function messageOfRefusal(kind: DerivedKind, plaintext: Uint8Array): string {
  try {
    readRoot(kind, plaintext, 'MY_ROOT')
  } catch (error) {
    if (error instanceof Fault && error.code === 'unusable_secret') return error.message
  }
  throw new Error('the root was not refused')
}

const long = (length: number) => 'x'.repeat(length)
const map = (size: number, value: string) =>
  Object.fromEntries(Array.from({ length: size }, (_, index) => [`p${index}`, value]))
const jwtClient = { client_secret: undefined, client_auth: 'private_key_jwt' }

type Row = [field: string, change: Readonly<Record<string, unknown>>]

const accepted: Record<DerivedKind, Readonly<Record<string, unknown>>[]> = {
  oauth2: [
    { client_secret: undefined },
    { client_auth: 'basic' },
    { client_auth: 'post' },
    { client_secret: undefined, client_auth: 'none' },
    { ...jwtClient, private_key: rsa.pkcs8, key_id: 'k', assertion_audience: 'https://a.example' },
    { ...jwtClient, private_key: ec.sec1.replaceAll('\n', '\r\n') },
    { token_url: 'https://localhost/token?tenant=a' },
    { refresh_token: 'r' },
    { refresh_token: long(16_384) },
    { scope: 'a b', resource: 'https://mcp.example/a?b=c', audience: 'https://api.example' },
    { resource: 'urn:example:api' },
    { parameters: map(16, 'v') },
    { parameters: { grant_type: 'account_credentials', account_id: 'a' } },
  ],
  github_app: [
    { client_id: undefined, app_id: 12 },
    { app_id: '12', installation_id: '13' },
    { private_key: rsa.pkcs8, api_url: undefined },
    { repositories: ['one'], permissions: { contents: 'read', issues: 'write' } },
  ],
  aws_role: [
    { external_id: 'ab', duration_seconds: 900, region: 'eu-west-1', sts_url: undefined },
    { duration_seconds: 43_200, session_policy: '{"Version":"2012-10-17"}' },
    { role_arn: 'arn:aws-cn:iam::123456789012:role/path/deploy' },
  ],
}

const refused: Record<DerivedKind, Row[]> = {
  oauth2: [
    ['token_url', { token_url: undefined }],
    ['token_url', { token_url: 'http://localhost/token' }],
    ['token_url', { token_url: 'https://user@localhost/token' }],
    ['token_url', { token_url: 'https://localhost/token#a' }],
    ['token_url', { token_url: 'https://localhost\\@example.com/' }],
    ['token_url', { token_url: ' https://localhost/token' }],
    ['token_url', { token_url: 'https://' }],
    ['token_url', { token_url: `https://localhost/${long(2048)}` }],
    ['client_id', { client_id: undefined }],
    ['client_id', { client_id: '' }],
    ['client_id', { client_id: 'a\nb' }],
    ['client_secret', { client_secret: 'lone \ud800' }],
    ['client_secret', { client_secret: 1 }],
    ['client_secret', { client_secret: undefined, client_auth: 'basic' }],
    ['client_secret', { client_secret: undefined, client_auth: 'post' }],
    ['client_secret', { client_auth: 'none' }],
    ['client_secret', { client_auth: 'private_key_jwt', private_key: rsa.pkcs8 }],
    ['client_auth', { client_auth: 'tls_client_auth' }],
    ['private_key', jwtClient],
    ['private_key', { ...jwtClient, private_key: 'not a key' }],
    [
      'private_key',
      { ...jwtClient, private_key: rsa.pkcs8.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE') },
    ],
    ['private_key', { private_key: rsa.pkcs8 }],
    ['key_id', { key_id: 'k' }],
    ['assertion_audience', { assertion_audience: 'a' }],
    ['refresh_token', { refresh_token: '' }],
    ['refresh_token', { refresh_token: 'a b' }],
    ['refresh_token', { refresh_token: long(16_385) }],
    ['scope', { scope: 'a\tb' }],
    ['resource', { resource: 'https://api.example/#a' }],
    ['resource', { resource: '/relative' }],
    ['audience', { audience: '' }],
    ['parameters', { parameters: map(17, 'v') }],
    ['parameters', { parameters: [] }],
    ['parameters', { parameters: { a: 1 } }],
    ['parameters', { parameters: { a: '' } }],
    ['parameters', { parameters: { 'a b': 'c' } }],
    ['parameters', { parameters: { scope: 'a' } }],
    ['parameters', { parameters: { client_assertion: 'a' } }],
    ['parameters', { refresh_token: 'r', parameters: { grant_type: 'password' } }],
    ['', { unknown: 'a' }],
    ['', { kind: 'oauth2' }],
  ],
  github_app: [
    ['client_id', { client_id: undefined }],
    ['app_id', { app_id: 0 }],
    ['app_id', { app_id: '01' }],
    ['private_key', { private_key: undefined }],
    ['private_key', { private_key: String(rsa.publicKey.export({ type: 'spki', format: 'pem' })) }],
    ['installation_id', { installation_id: undefined }],
    ['installation_id', { installation_id: 1.5 }],
    ['installation_id', { installation_id: '../1' }],
    ['api_url', { api_url: 'http://localhost' }],
    ['api_url', { api_url: 'https://localhost/?a=b' }],
    ['repositories', { repositories: [] }],
    ['repositories', { repositories: Array(501).fill('a') }],
    ['permissions', { permissions: { contents: 'all' } }],
    ['permissions', { permissions: map(101, 'read') }],
    ['', { webhook_secret: 'a' }],
  ],
  aws_role: [
    ['access_key_id', { access_key_id: 'short' }],
    ['secret_access_key', { secret_access_key: 'with a space' }],
    ['role_arn', { role_arn: 'arn:aws:iam::123456789012:user/ada' }],
    ['role_arn', { role_arn: undefined }],
    ['external_id', { external_id: 'a' }],
    ['external_id', { external_id: 'a b' }],
    ['duration_seconds', { duration_seconds: 899 }],
    ['duration_seconds', { duration_seconds: 43_201 }],
    ['duration_seconds', { duration_seconds: 3600.5 }],
    ['session_policy', { session_policy: '[]' }],
    ['session_policy', { session_policy: JSON.stringify({ a: long(2048) }) }],
    ['region', { region: 'eu-west-1.evil.example/' }],
    ['sts_url', { sts_url: 'http://localhost/' }],
    ['', { session_token: 'a' }],
  ],
}

describe.each([...derivedKinds])('a root of the kind %s', (kind) => {
  test('a root of this kind is accepted with each field at its limits', () => {
    const found = accepted[kind].map((change) => refusedFields(kind, change))
    expect(found).toEqual(accepted[kind].map(() => []))
  })

  test.each(refused[kind])('a root is rejected for the field "%s": %j', (field, change) => {
    expect(refusedFields(kind, change)).toContain(field)
  })

  test('a root is a JSON object of at most 64 KiB without repeated names or deep nesting', () => {
    const plain = JSON.stringify(samples[kind])
    const repeated = plain.replace('{', '{"\\u0070rivate_key":"a","private_key":"b",')
    const deep = `{"a":${'['.repeat(40)}${']'.repeat(40)}}`
    const padded = (bytes: number) => encodeRoot(plain.padEnd(bytes))
    for (const text of [
      '',
      'null',
      '[]',
      '"text"',
      plain.slice(1),
      `\ufeff${plain}`,
      repeated,
      deep,
    ])
      expect(checkRoot(kind, encodeRoot(text)).map(({ path }) => path)).toEqual([''])
    expect(checkRoot(kind, Uint8Array.of(0x7b, 0xff, 0x7d))).toHaveLength(1)
    expect(checkRoot(kind, padded(MAX_ROOT_BYTES))).toEqual([])
    expect(checkRoot(kind, padded(MAX_ROOT_BYTES + 1))).toHaveLength(1)
  })

  test('a root is rejected with the names of the secret and its fields, and without any of its text', () => {
    const names = Object.keys(samples[kind])
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.uuid(), (field, canary) => {
        const nested = { [canary]: { [canary]: canary } }
        for (const value of [nested, [canary]]) {
          const root = { ...samples[kind], [field]: value, [canary]: canary }
          const message = messageOfRefusal(kind, encodeRoot(root))
          expect(message).toContain('MY_ROOT')
          expect(message).toContain(field)
          expect(message).not.toContain(canary)
        }
      }),
    )
  })
})

test("a root's defaults are those of the protocol", () => {
  expect(sampleRoot('oauth2')).toMatchObject({
    clientAuth: 'basic',
    assertionAudience: samples.oauth2.token_url,
    parameters: {},
  })
  expect(sampleRoot('oauth2', { client_secret: undefined }).clientAuth).toBe('none')
  expect(sampleRoot('github_app', { api_url: undefined }).apiUrl).toBe('https://api.github.com')
  const role = (region?: string) => sampleRoot('aws_role', { sts_url: undefined, region })
  expect(role()).toMatchObject({ durationSeconds: 3600, region: 'us-east-1' })
  expect(role().stsUrl).toBe('https://sts.us-east-1.amazonaws.com/')
  expect(role('cn-north-1').stsUrl).toBe('https://sts.cn-north-1.amazonaws.com.cn/')
})
