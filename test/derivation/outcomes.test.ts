// tier: quick
/** The meaning of each answer of a token endpoint: accepted, final, or retried. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { utf8 } from '../../src/core/crypto/encoding.ts'
import { derivedKinds } from '../../src/core/policy/policy.ts'
import { type Outcome, readOutcome, type TokenRequest } from '../../src/derivation/derivation.ts'
import type { Root } from '../../src/derivation/root.ts'
import { sampleRoot } from './sample_roots.ts'

const NOW = Date.UTC(2026, 10, 21, 4, 5, 6)
const AT = (seconds: number) => new Date(NOW + seconds * 1000)

const oauth2 = sampleRoot('oauth2')
const refreshing = sampleRoot('oauth2', { refresh_token: 'refresh-1' })
const github = sampleRoot('github_app')
const aws = sampleRoot('aws_role', { duration_seconds: 7200 })

const requestOf = (root: Root): TokenRequest => ({
  url: 'https://localhost/',
  headers: [],
  body: new Uint8Array(),
  spendsRefreshToken: root === refreshing,
})

function outcome(
  root: Root,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Outcome {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const answer = { status, headers: new Headers(headers), body: utf8(text) }
  return readOutcome(root, answer, requestOf(root), NOW)
}

const TOKEN = 'access-token-1'
const token = (more: object = {}) => ({ access_token: TOKEN, ...more })
const derived = (lifetimeS = 3600, refreshToken: string | null = null) => ({
  kind: 'derived' as const,
  credential: TOKEN,
  refreshToken,
  lifetimeS,
})
const retry = (code: string, retryAfterS: number | null = null) => ({
  kind: 'retry' as const,
  code,
  retryAfterS,
})
const final = (code: string, mayHaveLostToken = false) => ({
  kind: 'final' as const,
  code,
  mayHaveLostToken,
})

describe('an OAuth answer', () => {
  const characters = Array.from({ length: 0x7e - 0x20 }, (_, index) =>
    String.fromCharCode(0x21 + index),
  )

  test('an OAuth answer is accepted with any token of 8 to 16,384 visible ASCII characters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...characters), minLength: 8, maxLength: 200 }),
        fc.constantFrom(200, 201),
        (access_token, status) => {
          const found = outcome(oauth2, status, { access_token })
          expect(found).toEqual({ ...derived(), credential: access_token })
        },
      ),
    )
  })

  test.each([7, 8, 16_384, 16_385])(
    'an OAuth answer is judged by the length of its token: %d',
    (length) => {
      const access_token = 'a'.repeat(length)
      const isAccepted = length >= 8 && length <= 16_384
      const expected = isAccepted
        ? { ...derived(), credential: access_token }
        : retry('invalid_answer')
      expect(outcome(oauth2, 200, { access_token })).toEqual(expected)
    },
  )

  test.each([
    ['no token', {}],
    ['a token that is a number', { access_token: 1234567890 }],
    ['a space in the token', token({ access_token: 'access token' })],
    ['a line break in the token', token({ access_token: 'access-token\n' })],
    ['a token outside of ASCII', token({ access_token: 'accéss-token' })],
    ['a lone surrogate in the token', '{"access_token":"access-\\ud800-token"}'],
    [
      'a lone surrogate in another name',
      '{"\\ud800":1,"ok":false,"access_token":"access-token-1"}',
    ],
    ['an error that is an object', token({ error: { code: 403 } })],
    ['an error with spaces', token({ error: 'Not Found' })],
    ['an empty error', token({ error: '' })],
    ['a lone surrogate in the error', '{"error":"\\udc00"}'],
    ['ok: false', token({ ok: false })],
    ['a list', [token()]],
    ['null', 'null'],
    ['HTML', '<html><body>access_token</body></html>'],
    ['a form', `access_token=${TOKEN}`],
    ['an empty body', ''],
    ['a byte order mark', `\ufeff${JSON.stringify(token())}`],
    ['a repeated name', `{"access_token":"${TOKEN}","access_token":"access-token-2"}`],
    ['a name repeated by an escape', `{"access_token":"${TOKEN}","\\u0061ccess_token":"12345678"}`],
    ['a repeated name deep inside', `{"access_token":"${TOKEN}","a":[{"b":1,"b":2}]}`],
    ['33 levels', `{"access_token":"${TOKEN}","a":${'['.repeat(32)}${']'.repeat(32)}}`],
    ['500,000 levels', `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`],
    ['half of a JSON text', `{"access_token":"${TOKEN}"`],
    ['an unusable refresh token', token({ refresh_token: 'with space' })],
    ['a refresh token that is a number', token({ refresh_token: 1 })],
    ['a refresh token of 16,385 characters', token({ refresh_token: 'r'.repeat(16_385) })],
  ])('a GitHub answer is retried for %s', (_, body) => {
    for (const root of [oauth2, refreshing])
      expect(outcome(root, 200, body)).toEqual(retry('invalid_answer'))
  })

  test('an OAuth answer may repeat names in different objects, and nest 32 levels deep', () => {
    const nested = `{"access_token":"${TOKEN}","a":[{"a":1},{"a":"\\"a\\":"}],"b":${'['.repeat(31)}${']'.repeat(31)}}`
    expect(outcome(oauth2, 200, nested)).toEqual(derived())
  })

  test('an OAuth answer is read as JSON whatever its content type', () => {
    for (const type of ['text/html', 'application/json; charset=utf-16', ''])
      expect(outcome(oauth2, 200, token(), { 'content-type': type })).toEqual(derived())
  })

  test.each(['dpop', 'DPoP', 'mac', 'PoP'])(
    'an OAuth answer is retried for the token type %s',
    (token_type) => {
      expect(outcome(oauth2, 200, token({ token_type }))).toEqual(retry('unsupported_token_type'))
    },
  )

  test.each(['bearer', 'Bearer', 'bot', null, undefined])(
    'an OAuth answer is accepted with the token type %s',
    (token_type) => {
      expect(outcome(oauth2, 200, token({ token_type, error: null, ok: true }))).toEqual(derived())
    },
  )

  test.each([
    [undefined, 3600],
    [null, 3600],
    [1, 1],
    ['7199', 7199],
    [59.9, 59],
    [0, 3600],
    [-1, 3600],
    [0.5, 3600],
    ['', 3600],
    ['1e3', 3600],
    [true, 3600],
    [315_360_000, 315_360_000],
    [315_360_001, 3600],
    [1e300, 3600],
  ])('an OAuth answer with expires_in %p lasts %d seconds', (expires_in, lifetimeS) => {
    expect(outcome(oauth2, 200, token({ expires_in }))).toEqual(derived(lifetimeS))
  })

  test('an OAuth answer replaces the refresh token only if the root has one', () => {
    const answer = token({ refresh_token: 'r' })
    expect(outcome(refreshing, 200, answer)).toEqual(derived(3600, 'r'))
    expect(outcome(oauth2, 200, answer)).toEqual(derived())
    for (const refresh_token of ['', null])
      expect(outcome(refreshing, 200, token({ refresh_token }))).toEqual(derived())
  })

  const losing = ['invalid_grant', 'invalid_token', 'expired_token', 'access_denied']
  const others = [
    'invalid_request',
    'invalid_client',
    'unauthorized_client',
    'unsupported_grant_type',
    'invalid_scope',
    'invalid_target',
  ]
  const transient = ['temporarily_unavailable', 'slow_down', 'server_error']
  const unregistered = ['bad_refresh_token', 'too_many_requests', 'not_found', `x${TOKEN}`]

  test('an OAuth answer is final for an OAuth error with any status below 500', () => {
    for (const status of [200, 201, 302, 400, 401, 403, 404, 408, 425, 429, 499])
      for (const error of [...losing, ...others]) {
        const isLosing = losing.includes(error)
        expect(outcome(refreshing, status, { error })).toEqual(final(error, isLosing))
        expect(outcome(oauth2, status, { error })).toEqual(final(error, false))
      }
  })

  test('an OAuth answer is retried for transient errors, and for every error with a status of 500 or more', () => {
    for (const error of transient)
      for (const status of [200, 400, 429, 503])
        expect(outcome(oauth2, status, { error })).toEqual(retry(error))
    for (const error of [...losing, ...others])
      for (const status of [500, 502, 503, 599])
        expect(outcome(refreshing, status, { error })).toEqual(retry(error))
  })

  test('an OAuth answer is final for an unregistered error, without its text, unless its status asks for a retry', () => {
    for (const error of unregistered) {
      for (const status of [200, 400, 401, 403, 404])
        expect(outcome(refreshing, status, { error })).toEqual(final('unregistered', true))
      for (const status of [408, 425, 429, 500])
        expect(outcome(refreshing, status, { error })).toEqual(retry('unregistered'))
    }
  })

  test.each([204, 301, 302, 307, 400, 401, 403, 404, 429, 500, 503])(
    'an OAuth answer is retried for status %d without an OAuth error, with or without a token',
    (status) => {
      for (const body of ['', '<html>', token(), { error: 'Not Found' }, { error: 'a\\b' }])
        expect(outcome(oauth2, status, body)).toEqual(retry(`http_${status}`))
    },
  )
})

describe('a GitHub answer', () => {
  const good = { token: 'ghs_0123456789', expires_at: AT(3600).toISOString() }
  const accepted = { ...derived(), credential: good.token }

  test('a GitHub answer is accepted with status 201 or 200', () => {
    for (const status of [200, 201]) expect(outcome(github, status, good)).toEqual(accepted)
  })

  test.each([401, 404, 422])('a GitHub answer is final with status %d', (status) => {
    for (const body of [{ message: 'Bad credentials' }, '', '<html>', good])
      expect(outcome(github, status, body)).toEqual(final(`http_${status}`))
  })

  test.each([202, 302, 400, 403, 429, 500, 503])(
    'a GitHub answer is retried with status %d',
    (status) => {
      expect(outcome(github, status, good)).toEqual(retry(`http_${status}`))
    },
  )

  test('a GitHub answer is retried without a usable token', () => {
    for (const body of [{}, { ...good, token: 'short' }, { access_token: TOKEN }, '<html>'])
      expect(outcome(github, 201, body)).toEqual(retry('invalid_answer'))
  })

  test.each([
    [AT(600).toISOString(), 600],
    [AT(7200).toISOString(), 3600],
    [AT(-1).toISOString(), 3600],
    ['tomorrow', 3600],
    [undefined, 3600],
  ])('with expires_at %s lasts %d seconds', (expires_at, lifetimeS) => {
    const found = outcome(github, 201, { ...good, expires_at })
    expect(found).toEqual({ ...accepted, lifetimeS })
  })

  test("a GitHub answer lasts as long as GitHub's clock and answer state, even if the local clock is wrong", () => {
    for (const skew of [-86_400, 86_400]) {
      const date = AT(skew).toUTCString()
      const body = { ...good, expires_at: AT(skew + 600).toISOString() }
      expect(outcome(github, 201, body, { date })).toEqual({ ...accepted, lifetimeS: 600 })
    }
  })
})

describe('an AWS answer', () => {
  const Credentials = {
    AccessKeyId: 'ASIAIOSFODNN7EXAMPLE',
    SecretAccessKey: 'secret-key-1',
    SessionToken: 'session-token-1',
    Expiration: NOW / 1000 + 7200,
  }
  const wrapped = (change: object = {}) => ({
    AssumeRoleResponse: { AssumeRoleResult: { Credentials: { ...Credentials, ...change } } },
  })
  const accepted = {
    ...derived(7200),
    credential: {
      access_key_id: 'ASIAIOSFODNN7EXAMPLE',
      secret_access_key: 'secret-key-1',
      session_token: 'session-token-1',
    },
  }
  const error = (Code: string, Message = 'because') => ({
    Error: { Code, Message, Type: 'Sender' },
  })
  const xml = (code: string, message = 'because') =>
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`

  test('an AWS answer is accepted with all three parts of the keys', () => {
    expect(outcome(aws, 200, wrapped())).toEqual(accepted)
    for (const part of ['AccessKeyId', 'SecretAccessKey', 'SessionToken'])
      for (const value of [undefined, null, 1, '', 'a b c d e f g h i j', 'é'.repeat(20)])
        expect(outcome(aws, 200, wrapped({ [part]: value }))).toEqual(retry('invalid_answer'))
    for (const body of [Credentials, { AssumeRoleResponse: [] }, xml('None'), {}])
      expect(outcome(aws, 200, body)).toEqual(retry('invalid_answer'))
  })

  test('an AWS answer lasts until its expiration, and no longer than requested', () => {
    for (const [Expiration, lifetimeS] of [
      [NOW / 1000 + 900, 900],
      [AT(900).toISOString(), 900],
      [NOW / 1000 + 86_400, 7200],
      [NOW / 1000 - 1, 7200],
      [undefined, 7200],
    ] as const)
      expect(outcome(aws, 200, wrapped({ Expiration }))).toEqual({ ...accepted, lifetimeS })
  })

  test('an AWS answer is final with status 403, whatever its body, and records only codes of AWS', () => {
    for (const code of ['AccessDenied', 'InvalidClientTokenId', 'SignatureDoesNotMatch'])
      for (const body of [error(code), xml(code)])
        expect(outcome(aws, 403, body)).toEqual(final(code))
    for (const body of [error(TOKEN), xml('MadeUp'), '', '<html>', { Error: 'text' }])
      expect(outcome(aws, 403, body)).toEqual(final('http_403'))
  })

  test('an AWS answer is final for an invalid request', () => {
    for (const code of ['ValidationError', 'MalformedPolicyDocument', 'PackedPolicyTooLarge'])
      for (const body of [error(code), xml(code)])
        expect(outcome(aws, 400, body)).toEqual(final(code))
  })

  test('an AWS answer is retried for throttling and for differing clocks', () => {
    for (const code of ['Throttling', 'ThrottlingException', 'RequestExpired'])
      for (const body of [error(code), xml(code)]) {
        const found = [400, 403, 429, 503].map((status) => outcome(aws, status, body))
        expect(found).toEqual(Array(4).fill(retry(code)))
      }
    for (const skew of ['expired: 1 is now earlier than 2', 'not yet current: 1']) {
      const problem = ['SignatureDoesNotMatch', `Signature ${skew}`] as const
      for (const body of [error(...problem), xml(...problem)])
        expect(outcome(aws, 403, body)).toEqual(retry('RequestExpired'))
    }
  })

  test('an AWS answer is retried for every other error', () => {
    for (const [status, body] of [
      [400, error('MadeUp')],
      [400, '<html>'],
      [404, ''],
      [500, error('ValidationError')],
      [503, error('AccessDenied')],
    ] as const)
      expect(outcome(aws, status, body)).toEqual(retry(`http_${status}`))
  })
})

describe('every kind', () => {
  const roots = { oauth2: refreshing, github_app: github, aws_role: aws }

  test.each([...derivedKinds])('every kind retries a missing or too large answer: %s', (kind) => {
    const root = roots[kind]
    for (const failure of ['unreachable', 'timeout'] as const)
      expect(readOutcome(root, failure, requestOf(root), NOW)).toEqual(retry(failure))
    const padded = JSON.stringify(token({ error: 'invalid_grant' })).padEnd(1_048_577)
    expect(outcome(root, 200, padded)).toEqual(retry('answer_too_large'))
  })

  test.each([
    ['0', 0],
    [' 7 ', 7],
    ['3600', 3600],
    ['3601', 3600],
    ['999999999999999', 3600],
    [AT(90).toUTCString(), 90],
    [AT(-90).toUTCString(), 0],
    [AT(7200).toUTCString(), 3600],
    ['-1', null],
    ['1.5', null],
    ['soon', null],
    ['2026-11-21', null],
    ['', null],
  ])('asks by Retry-After "%s" for %p seconds', (header, retryAfterS) => {
    for (const root of Object.values(roots))
      expect(outcome(root, 503, '', { 'retry-after': header })).toEqual(
        retry('http_503', retryAfterS),
      )
  })

  test.each([...derivedKinds])(
    'every kind reads any answer without throwing or repeating its text: %s',
    (kind) => {
      const answers = fc.record({
        status: fc.integer({ min: 100, max: 999 }),
        body: fc.oneof(
          fc.json(),
          fc.string(),
          fc.object().map((it) => JSON.stringify(it)),
        ),
        header: fc.string({ unit: fc.constantFrom(...' 0123456789abc:,-') }),
        canary: fc.uuid(),
      })
      fc.assert(
        fc.property(answers, ({ status, body, header, canary }) => {
          const hostile = [
            body,
            JSON.stringify({ error: canary, error_description: canary, message: canary }),
            JSON.stringify({ Error: { Code: canary, Message: canary } }),
          ]
          for (const text of hostile) {
            const found = outcome(roots[kind], status, text, {
              'retry-after': header,
              date: header,
            })
            if (found.kind === 'derived') continue
            expect(found.code).toMatch(/^[A-Za-z_]+(_\d{3})?$/)
            expect(JSON.stringify(found)).not.toContain(canary)
          }
        }),
      )
    },
  )
})

describe('no value in any field of an answer makes reading it throw', () => {
  const hostile: unknown[] = [
    { toString: '' },
    { toString: null },
    [[]],
    [],
    {},
    null,
    true,
    1e308,
    '',
  ]
  const outside = ['access_token', 'token_type', 'refresh_token', 'expires_in', 'error', 'token']
  const inside = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration', 'Code', 'Message']
  const answers = hostile.flatMap((value) => [
    ...[...outside, 'expires_at'].map((name) => token({ token: TOKEN, [name]: value })),
    ...inside.map((name) => {
      const Credentials = { AccessKeyId: 'ASIA0123456789ABCDEF', [name]: value }
      return { AssumeRoleResponse: { AssumeRoleResult: { Credentials } }, Error: Credentials }
    }),
  ])

  test.each([200, 201, 400, 403])(
    'no field of an answer with status %d makes reading it throw',
    (status) => {
      for (const root of [oauth2, refreshing, github, aws])
        for (const answer of answers) expect(outcome(root, status, answer).kind).toBeString()
    },
  )
})
