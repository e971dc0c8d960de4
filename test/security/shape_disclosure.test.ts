// tier: quick
/**
 * Anyone who may use a credential may read its shape (protocol 6.8). The shape therefore contains no part of the
 * value that is not public by its form, wherever in the value the secret is and however the value is changed.
 */
import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { shapeOf } from '../../src/outbound/stand_ins/shape_of.ts'
import { effort } from '../support/effort.ts'

const PEM = String(
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
)
const other = () =>
  String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
const MAX_PARTS = 64

function shapeIn(value: string) {
  return shapeOf(new Uint8Array(Buffer.from(value)))
}

/** The part that is the same in all stand-ins of the value. */
function toldOf(value: string): string {
  const shape = shapeIn(value)
  return typeof shape === 'string' ? '' : shape.map(toldOfPart).join('\n')
}

function toldOfPart(part: object): string {
  if ('text' in part) return String(part.text)
  return 'jwt' in part ? String(part.jwt) : ''
}

const account = (more: string) =>
  `{"type":"service_account",${more}"private_key":${JSON.stringify(PEM)}}`

describe('a shape discloses no secret part', () => {
  const [key] = [JSON.stringify(other())]
  test.each([
    ['user without a password', 'https://correct-horse-battery-staple:@api.test/v1', 'correct'],
    ['user of digits', 'https://31415926535897932384:@api.test/v1', '3141'],
    ['user without a colon', 'https://correct-horse@api.test/v1', 'correct'],
    [
      'second URL, after a comma',
      'nats://app:Correct-Horse@east,nats://app:Correct-Horse@west',
      'Corr',
    ],
    ['second URL, after a semicolon', 'amqp://app:hunter2@a;amqp://app:hunter2@b', 'hunter2'],
    ['@ in a password', 'postgres://app:x@Correct-Horse@db.internal/app', 'Correct'],
    [
      'host before the field of a password',
      'sqlserver://db:1433;password=x@Correct-Horse',
      'Correct',
    ],
    ['query', 'postgresql://app:x@db/app?password=hunter2real', 'hunter2'],
    ['fragment', 'https://app:x@db/app#access_token=hunter2real', 'hunter2'],
    ['path', 'https://app:x@db/hooks/hunter2real', 'hunter2'],
    ['long segment', 'https://app:x@db/correct-horse-battery-staple', 'correct'],
    ['quoted field', 'Server=h;User=sa;Password="ab;cd=efgh-hijkl";Encrypt=true', 'efgh'],
    ['field in braces', 'Driver={X};UID=sa;PWD={ab;cd=efgh1234};X=y', 'efgh'],
    ['semicolon of a password that nothing quotes', 'Password=ab;efgh ijkl=mnop;Server=db', 'efgh'],
    [
      'field beside the password',
      'Host=h;Password=y;AuthToken=hunter2aut;Key Password=z',
      'hunter2',
    ],
    ['user of a connection string', 'Host=h;User ID=hunter2aut;Password=y', 'hunter2'],
    ['value of a told field that is no address', 'Host=h (hunter2);Password=y', 'hunter2'],
    ['inner key of an account', account(`"old":{"private_key":${key}},`), 'PRIVATE KEY'],
    ['key of an account that occurs twice', account(`"private_key":${key},`), 'PRIVATE KEY'],
    ['unknown field of an account', account('"token":"hunter2",'), 'hunter2'],
    ['address of an account', account('"token_uri":"https://hunter2@api.test",'), 'hunter2'],
    ['project of an account', account('"project_id":"hunter2",'), 'hunter2'],
    [
      'algorithm of a token',
      `${encoded('{"alg":"hunter2"}')}.${encoded('{"a":1}')}.c2ln`,
      'hunter2',
    ],
  ])('in the %s', (_, value, secret) => {
    expect(value.includes(secret) || value.startsWith('eyJ')).toBe(true)
    expect(toldOf(value)).not.toContain(secret)
  })

  test('a shape still reveals where a credential is used', () => {
    expect(toldOf('postgres://app:x@db.internal:5432/main')).toContain('@db.internal:5432/main')
    expect(toldOf('Server=db.internal;Password=x')).toContain('Server=db.internal;Password=')
    const token = 'https://oauth2.googleapis.com/token'
    expect(toldOf(account(`"token_uri":"${token}",`))).toContain(token)
  })
})

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/** A secret that no fixed text contains, out of the characters that separate parts. */
const secret = fc.string({
  unit: fc.constantFrom(...'QZXJ7QZXJ7QZXJ7@;:/?#=&%"\'{}\\,. -'),
  minLength: 4,
  maxLength: 24,
})

type Template = (secret: string) => string

const json = JSON.stringify
const templates: Template[] = [
  (s) => s,
  (s) => `https://${s}@api.test/v1`,
  (s) => `https://${s}:@api.test/v1`,
  (s) => `https://:${s}@api.test`,
  (s) => `postgres://${s}:${s}@db.internal:5432/main`,
  (s) => `postgres://app:x@${s}@db`,
  (s) => `postgres://app:x@db/main?password=${s}`,
  (s) => `postgres://app:x@db/main#${s}`,
  (s) => `postgres://app:x@db/v1/${s}`,
  (s) => `nats://app:x@a,nats://app:${s}@b`,
  (s) => `amqp://app:x@a;amqp://app:${s}@b`,
  (s) => `amqp://app:${s}@a amqp://app:${s}@b`,
  (s) => `sqlserver://db;user=sa;password=${s}@${s}`,
  (s) => `jdbc:postgresql://db/main?user=app&password=${s}`,
  (s) => `Server=db;Password=${s};Encrypt=true`,
  (s) => `Server=db;Password="${s}";Encrypt=true`,
  (s) => `Server=db;Password="ab;${s}=${s}";Encrypt=true`,
  (s) => `Driver={X};UID=sa;PWD={${s};${s}};X=y`,
  (s) => `Password=y;Auth Token=${s}`,
  (s) => `Password=y;User ID=${s};Server=db`,
  (s) => `Password=y;${s}=1`,
  (s) => `Password=y;Password=${s}`,
  (s) => account(`"private_key":${json(s)},`),
  (s) => account(`"old":{"private_key":${json(s)}},`),
  (s) => account(`${json(s)}:"a",`),
  (s) => account(`"project_id":${json(s)},"client_id":${json(s)},"private_key_id":${json(s)},`),
  (s) => account(`"client_email":${json(s)},"client_x509_cert_url":${json(s)},`),
  (s) => account(`"token_uri":${json(s)},`),
  (s) => account(`"token_uri":${json(`https://oauth2.googleapis.com/token?${s}`)},`),
  (s) => `${encoded(json({ alg: s, kid: s }))}.${encoded(json({ sub: s }))}.${encoded(s)}`,
  (s) => `sk_live_${s}`,
  (s) => `xoxb-${s}-${s}-${s}`,
]

test('no four characters of a secret part are disclosed, wherever the part is', () => {
  const property = fc.property(fc.constantFrom(...templates), secret, (template, part) => {
    const told = toldOf(template(part))
    for (let at = 0; at + 4 <= part.length; at += 1) {
      const four = part.slice(at, at + 4)
      if (/[QZXJ7]/.test(four)) expect(told).not.toContain(four)
    }
  })
  fc.assert(property, { numRuns: effort(5_000, 20_000) })
})

test('a shape has at most 64 parts, whatever the value contains', () => {
  const hostile = [
    `${'Password=a;'.repeat(2_900)}x=y`,
    `${'Password=a;'.repeat(100)}x=y`,
    `postgres://app:x@db/${'a/'.repeat(16_000)}`,
    `https://${'a:'.repeat(16_000)}@db`,
    `xoxb-${'a-'.repeat(16_000)}`,
    account('"type":"service_account",'.repeat(1_200)),
    '['.repeat(32_000),
    `SG.${'a.'.repeat(16_000)}`,
  ]
  for (const value of hostile) {
    const shape = shapeIn(value)
    expect(shape.length).toBeLessThanOrEqual(MAX_PARTS)
  }
})
