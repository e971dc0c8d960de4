// tier: quick
/** The parts that a stand-in has in common with its value, and no others. */
import { describe, expect, test } from 'bun:test'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { prepareGuard } from '../../../src/leak_guard/index.ts'
import { drawStandIn } from '../../../src/outbound/stand_ins/make.ts'
import { partOf } from '../../../src/outbound/stand_ins/parts.ts'
import { alphabets, type StandInShape, shape } from '../../../src/outbound/stand_ins/shape.ts'
import { shapeOf } from '../../../src/outbound/stand_ins/shape_of.ts'
import { effort } from '../../support/effort.ts'

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))

function shaped(value: string): StandInShape {
  const found = shapeOf(bytesOf(value))
  if (typeof found === 'string') throw new Error(`no shape: ${found}`)
  // In the form on the wire.
  return shape.parse(JSON.parse(JSON.stringify(found)))
}

const standIn = async (value: string) => (await drawStandIn(shaped(value))).text

const drawn = (alphabet: keyof typeof alphabets, length: number) =>
  Array.from({ length }, (_, at) => alphabets[alphabet][(at * 7 + 3) % alphabets[alphabet].length])
    .join('')
    .slice(0, length)

const base64 = (length: number) => Buffer.alloc(length, 0xb5).toString('base64')

test.each([
  [`sk_live_${drawn('base62', 24)}`, /^sk_live_[A-Za-z0-9]{24}$/],
  [`rk_test_${drawn('base62', 99)}`, /^rk_test_[A-Za-z0-9]{99}$/],
  [
    `xoxb-123456789012-1234567890123-${drawn('base62', 24)}`,
    /^xoxb-\d{12}-\d{13}-[A-Za-z0-9]{24}$/,
  ],
  ['AKIAIOSFODNN7EXAMPLE', /^AKIA[A-Z2-7]{16}$/],
  ['wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', /^[A-Za-z0-9+/]{40}$/],
  [`AIza${drawn('base64url', 35)}`, /^AIza[\w-]{35}$/],
  [`SG.${drawn('base62', 22)}.${drawn('base62', 43)}`, /^SG\.[\w-]{22}\.[\w-]{43}$/],
  [`sk-ant-api03-${drawn('base64url', 93)}AA`, /^sk-ant-api03-[\w-]{95}$/],
  [`dop_v1_${drawn('hex', 64)}`, /^dop_v1_[0-9a-f]{64}$/],
  [
    '550E8400-E29B-41D4-A716-446655440000',
    /^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-A[0-9A-F]{3}-[0-9A-F]{12}$/,
  ],
  [drawn('hex', 40), /^[0-9a-f]{40}$/],
  [drawn('upper_hex', 32), /^[0-9A-F]{32}$/],
  [drawn('digits', 24), /^[0-9]{24}$/],
  [base64(33), /^[A-Za-z0-9+/]{44}$/],
  [base64(32), /^[A-Za-z0-9+/]{43}=$/],
  ['a pass phrase of several words', /^[\w.~-]{30}$/],
  [
    'postgres://app:s3cr%2Ft%3B@db.internal:5432/main',
    /^postgres:\/\/[a-z0-9]{22}:[A-Za-z0-9]{22}@db\.internal:5432\/main$/,
  ],
  ['redis://:s3cret@cache:6379', /^redis:\/\/:[a-z0-9]{22}@cache:6379$/],
  [
    'Server=tcp:db.example,1433;Database=main;User ID=sa;Password=s3cret;Encrypt=true;',
    /^Server=tcp:db\.example,1433;Database=main;User ID=[a-z0-9]{22};Password=[a-z0-9]{22};Encrypt=true;$/,
  ],
  [
    `https://${drawn('hex', 32)}@o1.ingest.example/42`,
    /^https:\/\/[0-9a-f]{32}@o1\.ingest\.example\/42$/,
  ],
  [
    `DefaultEndpointsProtocol=https;AccountName=store;AccountKey=${base64(64)};EndpointSuffix=core.example`,
    /^DefaultEndpointsProtocol=https;AccountName=store;AccountKey=[A-Za-z0-9+/]{86}==;EndpointSuffix=core\.example$/,
  ],
])('the stand-in of %s has its form', async (value, like) => {
  const text = await standIn(value)
  expect(text).toMatch(like)
  expect(text).not.toBe(value)
  expect(await standIn(value)).not.toBe(text)
})

test.each(['ghp_', 'gho_', 'ghs_', 'npm_'])('the checksum of %s is valid', async (prefix) => {
  // The example is GitHub's: the checksum computed here is the one that GitHub writes.
  expect(checksumOf('zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ')).toBe('0mLq17')
  const text = await standIn(`${prefix}${drawn('base62', 36)}`)
  const [, random = '', checksum] =
    new RegExp(`^${prefix}([A-Za-z0-9]{30})([A-Za-z0-9]{6})$`).exec(text) ?? []
  expect(checksum).toBe(checksumOf(random))
})

function checksumOf(text: string): string {
  let [rest, digits] = [crc32(text), '']
  for (let count = 0; count < 6; count += 1) {
    digits = `${alphabets.base62[rest % 62]}${digits}`
    rest = Math.floor(rest / 62)
  }
  return digits
}

test('the stand-in of a GitHub installation token has another App and another JSON Web Token', async () => {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')
  const token = `${part({ alg: 'RS256' })}.${part({ installation: 7 })}.${drawn('base64url', 342)}`
  const text = await standIn(`ghs_1234567_${token}`)
  const [, app, header = '', claims = '', signature] =
    /^ghs_([0-9]{7})_([\w-]+)\.([\w-]+)\.([\w-]{342})$/.exec(text) ?? []
  const read = (base64: string) => JSON.parse(Buffer.from(base64, 'base64url').toString())
  expect(app).not.toBe('1234567')
  expect(read(header)).toMatchObject({ alg: 'RS256' })
  expect(Object.keys(read(claims))).toEqual(['jti'])
  expect(token).not.toEndWith(signature ?? token)
})

test('the stand-in of a JSON Web Token has three parts, its algorithm and its time, and none of its claims', async () => {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')
  const claims = { sub: 'ada@example.com', role: 'owner', exp: 1_900_000_000 }
  const value = [
    part({ alg: 'RS256', typ: 'JWT', kid: 'secret-kid' }),
    part(claims),
    drawn('base64url', 342),
  ]
  const parts = (await standIn(value.join('.'))).split('.')
  const read = (at: number) => JSON.parse(Buffer.from(parts[at] ?? '', 'base64url').toString())
  expect(parts).toHaveLength(3)
  expect(read(0)).toEqual({
    kid: expect.stringMatching(/^[0-9a-f]{16}$/),
    typ: 'JWT',
    alg: 'RS256',
  })
  expect(read(1)).toEqual({ jti: expect.any(String), exp: 1_900_000_000 })
  expect(parts[2]).toHaveLength(342)
})

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey
const ed25519 = generateKeyPairSync('ed25519').privateKey
const pem = (key: typeof rsa, type: 'pkcs1' | 'pkcs8' | 'sec1') =>
  String(key.export({ type: type as 'pkcs8', format: 'pem' }))

describe('a private key', () => {
  test.each([
    ['RSA, PKCS #8', pem(rsa, 'pkcs8')],
    ['RSA, PKCS #1', pem(rsa, 'pkcs1')],
    ['EC, PKCS #8', pem(ec, 'pkcs8')],
    ['EC, SEC 1', pem(ec, 'sec1')],
    ['Ed25519', pem(ed25519, 'pkcs8')],
  ])('the stand-in of %s is another key of the same type', async (_, value) => {
    const text = await standIn(value)
    const [given, made] = [createPrivateKey(value), createPrivateKey(text)]
    expect(made.asymmetricKeyType).toBe(given.asymmetricKeyType)
    expect(made.asymmetricKeyDetails).toEqual(given.asymmetricKeyDetails)
    expect(made.equals(given)).toBe(false)
    expect(text.split('\n')[0]).toBe(value.split('\n')[0] ?? '')
    const escaped = await standIn(value.trim().replaceAll('\n', '\\n'))
    expect(escaped).not.toContain('\n')
    expect(createPrivateKey(escaped.replaceAll('\\n', '\n')).asymmetricKeyType).toBe(
      given.asymmetricKeyType,
    )
  })

  test('the stand-in of a service account has another account and other names, and keeps the addresses of Google', async () => {
    const account = {
      type: 'service_account',
      project_id: 'demo',
      private_key_id: 'abc',
      private_key: pem(rsa, 'pkcs8'),
      client_email: 'robot@demo.iam.gserviceaccount.com',
      token_uri: 'https://oauth2.googleapis.com/token',
      universe_domain: 'googleapis.com',
    }
    for (const value of [JSON.stringify(account), JSON.stringify(account, null, 2)]) {
      const { private_key, ...others } = JSON.parse(await standIn(value))
      expect(others).toEqual({
        type: account.type,
        project_id: expect.stringMatching(/^[a-z0-9]{22}$/),
        private_key_id: expect.stringMatching(/^[0-9a-f]{40}$/),
        client_email: expect.stringMatching(
          /^[a-z0-9]{22}@[a-z0-9]{22}\.iam\.gserviceaccount\.com$/,
        ),
        token_uri: account.token_uri,
        universe_domain: account.universe_domain,
      })
      expect(createPrivateKey(private_key).asymmetricKeyDetails).toEqual(rsa.asymmetricKeyDetails)
      expect(createPrivateKey(private_key).equals(rsa)).toBe(false)
    }
  })
})

test.each([
  ['', 'empty'],
  [' \n', 'empty'],
  ['x'.repeat(32_769), 'long'],
  ['first\nsecond', 'lines'],
  ['{"token":"abc"}', 'json'],
  ['{"type":"service_account","private_key":"none"}', 'json'],
  ['{"private_key":"\\u00zz"', 'json'],
  ['https://hooks.example.com/services/T0/B0/abc', 'url'],
  ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'key'],
  ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', 'key'],
] as const)('a value such as %j has no shape: %s', (value, reason) => {
  expect(shapeOf(bytesOf(value))).toBe(reason)
})

test('bytes that are not text have no shape', () => {
  expect(shapeOf(Uint8Array.of(0xff, 0xfe))).toBe('binary')
})

test.each([
  ['hunter2', 22],
  ['1234', 22],
  ['123456789012345678', 22],
  [drawn('hex', 15), 22],
  [drawn('hex', 16), 16],
])(
  'the stand-in of %s has %d characters, so a short length is not revealed',
  async (value, length) => {
    expect(await standIn(value)).toHaveLength(length)
  },
)

test('a shape of one run reveals only the class and length of a value', () => {
  const text = fc.string({
    unit: fc.constantFrom(...alphabets.text, ' ', '$', '+'),
    minLength: 1,
    maxLength: 80,
  })
  fc.assert(
    fc.property(text, (value) => {
      const found = shapeOf(bytesOf(value))
      if (typeof found === 'string') return
      for (const part of found) if ('text' in part) expect(isPublic(part.text)).toBe(true)
    }),
    { numRuns: effort(500, 5_000) },
  )
})

/** A prefix that a vendor puts before its keys, and the padding of base64. */
function isPublic(text: string): boolean {
  return /^={1,2}$|^(pat|re_|sk-|hf_|r8_|[A-Za-z0-9._-]*[_.-])$/.test(text)
}

test('no stand-in is mistaken for a part of its value', async () => {
  const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')
  const other = Buffer.from('{"typ":"JWT","alg":"HS256"}').toString('base64url')
  const claims = Buffer.from('{"exp":1900000000,"sub":"1234567890"}').toString('base64url')
  const values = [
    `${header}.${claims}.${drawn('base64url', 43)}`,
    `${other}.${claims}.${drawn('base64url', 43)}`,
    `github_pat_${drawn('base62', 22)}_${drawn('base62', 59)}`,
  ]
  for (const value of values) {
    const guard = prepareGuard([{ name: 'VALUE', bytes: bytesOf(value) }]).forCall()
    const text = await standIn(value)
    expect(Buffer.from(guard.body(bytesOf(text))).toString()).toBe(text)
  }
})

test('a client extracts the same parts from a stand-in and from the value', async () => {
  const account = { type: 'service_account', private_key: pem(rsa, 'pkcs8') }
  const values = {
    USER: `https://${drawn('hex', 32)}@o1.ingest.example/42`,
    PASSWORD: 'https://ada:s3cr%2Ft@api.example/x',
    PRIVATE_KEY: JSON.stringify(account),
    KEY: `AccountName=store;AccountKey=${base64(64)};EndpointSuffix=core.example`,
  }
  for (const [name, value] of Object.entries(values)) {
    const { text, parts } = await drawStandIn(shaped(value))
    const names = name === 'PASSWORD' ? ['USER', name] : [name]
    expect(parts.map((part) => part.name as string)).toEqual(names)
    for (const part of parts) {
      const taken = Buffer.from(partOf(bytesOf(text), part.name) ?? []).toString()
      expect(taken.trim()).toBe(part.text)
    }
  }
  expect(Buffer.from(partOf(bytesOf(values.PASSWORD), 'PASSWORD') ?? []).toString()).toBe('s3cr/t')
  expect(partOf(bytesOf(values.PASSWORD), 'KEY')).toBeNull()
})
