// tier: quick
import { expect, test } from 'bun:test'
import { createHmac, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { isObviousSetting } from '../../src/client/delivery/obvious_setting.ts'

const settings: Record<string, string[]> = {
  PORT: ['8080', '443', '0'],
  WORKERS: ['4'],
  RATIO: ['0.75', '-1'],
  OFFSET: ['-5', '12345'],
  TIMEOUT_MS: ['300000', '30s', '1.5h', '100ms'],
  maxAge: ['31536000'],
  MAX_BODY: ['10MB', '10485760', '512MiB', '50%'],
  DEBUG: ['true', 'false', 'TRUE', 'yes', 'no', 'on', 'off', '1', '0', 'enabled', 'none', 'null'],
  LOG_LEVEL: ['debug', 'INFO', 'warn', 'error', 'trace', 'fatal', 'silent'],
  NODE_ENV: ['production', 'development', 'test', 'staging', 'prod', 'dev'],
  MODE: ['live', 'sandbox', 'local'],
  DB_HOST: [
    'localhost',
    'db',
    'db.internal',
    'postgres-1.example.com',
    '10.0.0.5',
    '::1',
    'db:5432',
  ],
  BIND: ['0.0.0.0', '127.0.0.1:8000', '[::]:8000', '[::1]'],
  BROKERS: ['kafka-1:9092,kafka-2:9092'],
  UPSTREAM: ['api.example.com', 'api.example.com:8443'],
  ANY: ['api.example.com', 'localhost:3000', 'redis.internal:6379'],
  API_URL: [
    'https://api.example.com',
    'https://api.example.com/',
    'https://api.example.com/v1/line-items',
    'http://localhost:3000/graphql',
    'http://127.0.0.1:8000',
    'http://[::1]:8000/api',
  ],
  DATABASE_URL: ['postgres://db.internal:5432/app', 'redis://localhost:6379/0'],
}

const secrets: Record<string, string[]> = {
  // Settings by their name, whatever the value.
  STRIPE_KEY: ['true', '8080', 'test', 'localhost', 'https://api.example.com'],
  apiKey: ['8080'],
  PASSWORD: ['12345', 'production', 'none'],
  DB_PASS: ['db.internal'],
  SECRET_NUMBER: ['7'],
  ACCESS_TOKEN: ['0'],
  PIN: ['1234'],
  CARD_PIN: ['1234'],
  userPin: ['1234'],
  CVV: ['123'],
  OTP: ['482913'],
  DOOR_CODE: ['4821'],
  SESSION_SALT: ['1'],
  WEBHOOK_URL: ['https://api.example.com/v1'],
  SENTRY_DSN: ['https://o1.ingest.sentry.io/1'],
  CREDENTIALS: ['auto'],
  // Settings by their value.
  VALUE: [
    '',
    ' true',
    'hunter2',
    'letmein',
    'correct horse battery staple',
    'correct.horse.battery.staple',
    'correct-horse-battery-staple',
    '482913',
    '4821391234567890',
    'deadbeef',
    'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
    'AKIAIOSFODNN7EXAMPLE',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
    '550e8400-e29b-41d4-a716-446655440000',
    'user@example.com',
    'a1b2:c3d4:e5f6:0718:293a:4b5c:6d7e:8f90',
    'true\n',
    '{"port":8080}',
  ],
  COUNT_ID: ['123456789012345678901234'],
  LONG_URL: [`https://api.example.com/${'a/'.repeat(100)}`],
  DATABASE_URL: [
    'postgres://app:hunter2@db.internal/app',
    'postgres://hunter2@db.internal/app',
    'postgres://db.internal/app?password=hunter2',
    'https://example.com/#fragment',
    'https://example.com/?x',
    'jdbc:postgresql://db/app?user=a&password=b',
  ],
  SLACK_URL: [
    'https://hooks.slack.com/services/T02400000/B02400000/XXXXXXXXXXXXXXXXXXXXXXXX',
    'https://discord.com/api/relay/123456789012345678/abcdefghijklmnop',
    'https://4eC39HqLyjWDarjtT1.example.com',
    'https://9f86d081884c7d65.example.com',
    'https://example.com/%68unter2',
    'data:text/plain,hunter2',
    'file:///etc/passwd',
  ],
  DB_HOST: [
    'hunter2hunter2',
    '9f86d081884c7d659a2feaa0c55ad015',
    'user:pass@db',
    'db/secret',
    'A.B',
  ],
}

test('a value without a secret meaning is a setting', () => {
  for (const [name, values] of Object.entries(settings))
    for (const value of values)
      expect([name, value, isObviousSetting(name, value)]).toEqual([name, value, true])
})

test('a value that could be a secret is not a setting', () => {
  for (const [name, values] of Object.entries(secrets))
    for (const value of values)
      expect([name, value, isObviousSetting(name, value)]).toEqual([name, value, false])
})

const forms: Record<string, (bytes: Buffer) => string> = {
  hex: (bytes) => bytes.toString('hex'),
  base64: (bytes) => bytes.toString('base64'),
  base64url: (bytes) => bytes.toString('base64url'),
  base36: (bytes) => BigInt(`0x${bytes.toString('hex')}`).toString(36),
  decimal: (bytes) => BigInt(`0x${bytes.toString('hex')}`).toString(),
  letters: (bytes) => [...bytes].map((byte) => String.fromCharCode(97 + (byte % 26))).join(''),
}
const places: ((text: string) => string)[] = [
  (text) => text,
  (text) => `${text}.example.com`,
  (text) => `https://${text}.example.com/`,
  (text) => `https://api.example.com/v1/${text}`,
  (text) => `https://api.example.com/?q=${text}`,
  (text) => `redis://:${text}@localhost`,
]

test('random values are never settings, in any usual form and place, under a neutral name', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 40 }), (seed) => {
      const bytes = createHmac('sha256', randomBytes(16)).update(seed).digest().subarray(0, 20)
      for (const form of Object.values(forms))
        for (const place of places)
          expect(isObviousSetting('SERVER_URL', place(form(bytes)))).toBe(false)
    }),
    { numRuns: 300 },
  )
})

test('hostile values take no time', () => {
  const started = performance.now()
  for (const piece of ['a', '1', 'a.', 'a-', 'a/', 'https://', ':', ','])
    isObviousSetting('HOST_URL', piece.repeat(100_000))
  for (const piece of ['a', '1', 'a.', 'a-', 'a/', ':', ',']) {
    isObviousSetting('HOST', piece.repeat(90))
    isObviousSetting('URL', `https://${piece.repeat(90)}`)
  }
  expect(performance.now() - started).toBeLessThan(1_000)
})
