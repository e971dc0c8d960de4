// tier: quick
/** JSON Web Tokens that a client signed for Google, signed again, and the tickets for the tokens in the answers. */
import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync, verify } from 'node:crypto'
import { Fault } from '../../src/core/fault.ts'
import { Secret } from '../../src/core/secret.ts'
import { bytesOf, type CallBody } from '../../src/outbound/call.ts'
import { injectPlaceholders } from '../../src/outbound/injection/placeholders.ts'
import { googleSignature } from '../../src/outbound/signing/google_resign.ts'
import { openTicket } from '../../src/outbound/signing/tickets.ts'
import { ticketsFor } from '../../src/outbound/signing/token_answer.ts'
import { parseTarget } from '../../src/outbound/target.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const EMAIL = 'robot@project.iam.gserviceaccount.com'
const account = {
  type: 'service_account',
  private_key_id: 'a1b2',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  client_email: EMAIL,
}
const VALUE = Buffer.from(JSON.stringify(account))
const valuesOf = (value: Uint8Array) => new Map([['ROBOT', new Secret(value)]])

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TOKEN_URL = 'https://oauth2.googleapis.com/token'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const tokenOf = (claims: object, header: object = { alg: 'RS256', typ: 'JWT', kid: 'theirs' }) =>
  `${part(header)}.${part(claims)}.SVC_SECRET_ROBOT`
const claims = { iss: 'stand-in', scope: 'a b', aud: TOKEN_URL, iat: 1, exp: 3601 }

type Given = { url?: string; headers?: Record<string, string>; body?: string }

function signatureOf({ url = TOKEN_URL, headers = FORM, body }: Given) {
  const target = parseTarget(url)
  const bytes = body === undefined ? null : { bytes: Buffer.from(body) }
  const signing = { answer: 'whole' as const, signing: null, linkBase: null }
  const call = { targetUrl: url, method: 'POST', headers, body: bytes, ...signing }
  const { authority, path, search } = target
  const unsigned = { method: 'POST', authority, path, search, body: bytes }
  const request = { ...unsigned, headers: Object.entries(headers) }
  const signature = googleSignature(call, target)
  return (
    signature && {
      ...signature,
      made: (value: Uint8Array = VALUE) => signature.sign(request, valuesOf(value)),
    }
  )
}

const formOf = (token: string, more = '') =>
  `grant_type=${encodeURIComponent(GRANT)}&assertion=${token}${more}`
const bearing = (token: string, url = 'https://storage.googleapis.com/b') => ({
  url,
  headers: { authorization: `Bearer ${token}` },
})

const codeOf = (given: Given, value?: Uint8Array) => {
  try {
    return signatureOf(given)?.made(value) ? 'signed' : 'left alone'
  } catch (error) {
    return error instanceof Fault ? error.code : String(error)
  }
}

const read = (token: string) => {
  const [head = '', body = '', signature = ''] = token.split('.')
  const isRight = verify(
    'sha256',
    Buffer.from(`${head}.${body}`),
    publicKey,
    Buffer.from(signature, 'base64url'),
  )
  expect(isRight).toBe(true)
  return [head, body].map((text) => JSON.parse(Buffer.from(text, 'base64url').toString()))
}

const textOf = (body: CallBody) => Buffer.from(bytesOf(body) ?? []).toString()

describe('an assertion', () => {
  test('an assertion is signed with the real key, for the real account, and its claims stay', () => {
    const body = formOf(tokenOf({ ...claims, sub: 'stand-in', n: [1] }), '&x=%20y')
    const signature = signatureOf({ body })
    const made = signature?.made()
    const form = new URLSearchParams(textOf(made?.body ?? null))
    expect([...form.keys()]).toEqual(['grant_type', 'assertion', 'x'])
    expect(form.get('x')).toBe(' y')
    expect(read(form.get('assertion') ?? '')).toEqual([
      { alg: 'RS256', typ: 'JWT', kid: 'a1b2' },
      { ...claims, iss: EMAIL, sub: EMAIL, n: [1] },
    ])
    expect(signature?.uses).toEqual([
      { name: 'ROBOT', style: 'google_jwt', header: 'authorization', isForeign: false },
    ])
  })

  test('an assertion claims no account fields other than issuer and subject', () => {
    const made = signatureOf({
      body: formOf(tokenOf({ ...claims, iss: TOKEN_URL, sub: 'a user' })),
    })?.made()
    const form = new URLSearchParams(textOf(made?.body ?? null))
    const wanted = { ...claims, iss: EMAIL, sub: 'a user' }
    expect(read(form.get('assertion') ?? '')[1]).toEqual(wanted)
  })

  test.each([
    'AUD',
    'Iss',
    '\u017fub',
    '\u017fcope',
    'ScopE',
    'Target_Audience',
    'EXP',
    'iAt',
    'PRN',
  ])('an assertion with the claim %s is rejected, because Go reads it in another case', (name) => {
    const other = { ...claims, [name]: 'https://other.example.com' }
    expect(codeOf({ body: formOf(tokenOf(other)) })).toBe('validation_error')
    const bearer = { ...claims, aud: 'https://storage.googleapis.com/' }
    expect(codeOf(bearing(tokenOf({ ...bearer, [name]: 1 })))).toBe('invalid_header')
    expect(codeOf({ body: formOf(tokenOf({ ...claims, [`x-${name}`]: 1 })) })).toBe('signed')
  })

  test.each(['ALG', 'Kid', '\u212aid', 'TYP'])(
    'an assertion with %s in its header is rejected',
    (name) => {
      const header = { alg: 'RS256', typ: 'JWT', kid: 'theirs' }
      const body = (head: object) => formOf(tokenOf(claims, head))
      expect(codeOf({ body: body({ ...header, [name]: 'none' }) })).toBe('validation_error')
      expect(codeOf({ body: body({ ...header, x5t: 'none' }) })).toBe('signed')
    },
  )

  test('an assertion may name the https port', () => {
    const of = (aud: string) => codeOf(bearing(tokenOf({ ...claims, aud })))
    for (const port of ['', ':443']) {
      expect(of(`https://storage.googleapis.com${port}/`)).toBe('signed')
    }
    for (const port of [':4430', ':8443', ':443:443', ':80']) {
      expect(of(`https://storage.googleapis.com${port}/`)).toBe('invalid_header')
    }
  })

  test('an assertion is for the called host, by any name of Google’s endpoint', () => {
    const to = (url: string, aud: unknown) =>
      codeOf({ url, body: formOf(tokenOf({ ...claims, aud })) })
    expect(to(TOKEN_URL, 'https://www.googleapis.com/oauth2/v4/token')).toBe('signed')
    expect(to('https://accounts.google.com/o/oauth2/token', TOKEN_URL)).toBe('signed')
    expect(to('https://login.example.com/token', 'https://login.example.com/token')).toBe('signed')
    for (const aud of [
      'https://other.example.com/token',
      [TOKEN_URL],
      [TOKEN_URL, 'https://other.example.com'],
      undefined,
      'oauth2.googleapis.com',
      'http://oauth2.googleapis.com/token',
      'https://oauth2.googleapis.com:8443/token',
      'https://oauth2.googleapis.com@evil.example/token',
      'https://evil.example\\@oauth2.googleapis.com/token',
      'https://oauth2.google\tapis.com/token',
      'https://OAUTH2.googleapis.com/token',
    ]) {
      expect(to(TOKEN_URL, aud)).toBe('validation_error')
    }
    for (const aud of [TOKEN_URL, 'https://evil.example\\@oauth2.googleapis.com/token']) {
      expect(to('https://evil.example/token', aud)).toBe('validation_error')
    }
  })

  test('an assertion with another algorithm, with two, or without a grant is rejected', () => {
    const good = tokenOf(claims)
    expect(codeOf({ body: formOf(good) })).toBe('signed')
    for (const alg of ['none', 'HS256', 'rs256', 'PS256', undefined, ['RS256']]) {
      expect(codeOf({ body: formOf(tokenOf(claims, { typ: 'JWT', alg })) })).toBe(
        'validation_error',
      )
    }
    for (const body of [
      formOf(good, `&assertion=${good}`),
      formOf('x', `&assertion=${good}`),
      formOf(good, `&grant_type=${GRANT}`),
      formOf(good, '&grant_type=password'),
      `assertion=${good}`,
      `grant_type=password&assertion=${good}`,
      formOf(tokenOf({ ...claims, iss: 7 })),
      formOf(tokenOf({ ...claims, scope: 'x'.repeat(20_000) })),
      formOf(
        `${part({ alg: 'RS256' })}.${Buffer.from('{"a').toString('base64url')}.SVC_SECRET_ROBOT`,
      ),
    ]) {
      expect(codeOf({ body })).toBe('validation_error')
    }
  })

  test('an assertion that names no secret, or is in another type of body, is left unchanged', () => {
    expect(codeOf({ body: formOf(tokenOf(claims).replace('SVC_SECRET_ROBOT', 'c2ln')) })).toBe(
      'left alone',
    )
    expect(codeOf({ body: formOf(tokenOf(claims)), headers: {} })).toBe('left alone')
    expect(codeOf({ body: 'assertion=SVC_SECRET_ROBOT' })).toBe('left alone')
  })

  test('an assertion requires a service account file with an RSA key', () => {
    const { privateKey: other } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = other.export({ type: 'pkcs8', format: 'pem' })
    for (const value of [
      'text',
      '{}',
      JSON.stringify({ ...account, private_key: pem }),
      JSON.stringify({ ...account, client_email: 1 }),
      JSON.stringify({ ...account, type: 'authorized_user' }),
    ]) {
      expect(codeOf({ body: formOf(tokenOf(claims)) }, Buffer.from(value))).toBe('unusable_secret')
    }
  })
})

describe('a self-signed token of the client', () => {
  const own = {
    iss: 'stand-in',
    sub: 'stand-in',
    aud: 'https://storage.googleapis.com/',
    iat: 1,
    exp: 2,
  }

  test('a self-signed token is signed for the called host', () => {
    const made = signatureOf(bearing(tokenOf(own)))?.made()
    const [, token = ''] =
      /^Bearer (.*)$/.exec(Object.fromEntries(made?.headers ?? []).authorization ?? '') ?? []
    expect(read(token)[1]).toEqual({ ...own, iss: EMAIL, sub: EMAIL })
    expect(codeOf(bearing(tokenOf(own), 'https://evil.example/'))).toBe('invalid_header')
    expect(codeOf(bearing(tokenOf({ ...own, aud: ['https://storage.googleapis.com/'] })))).toBe(
      'invalid_header',
    )
    expect(codeOf(bearing(tokenOf(own, { alg: 'HS256' })))).toBe('invalid_header')
  })

  test('a self-signed token with scopes and no audience is valid for all of Google', () => {
    const { aud: _, ...rest } = own
    const token = tokenOf({ ...rest, scope: 'https://www.googleapis.com/auth/cloud-platform' })
    const isForeign = (url: string) => signatureOf(bearing(token, url))?.uses[0]?.isForeign
    expect(isForeign('https://storage.googleapis.com/')).toBe(false)
    expect(isForeign('https://storage.googleapis.com.evil.example/')).toBe(true)
    expect(isForeign('https://googleapis.com.evil/')).toBe(true)
    expect(codeOf(bearing(tokenOf(rest)))).toBe('invalid_header')
  })
})

describe('a ticket', () => {
  const answered = async (body: string, init: ResponseInit = {}) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
    return ticketsFor('ROBOT', VALUE)(new Response(body, { headers, ...init }))
  }
  const ticketIn = (text: string) => /-ticket-([\w-]+)/.exec(text)?.[1] ?? ''
  const sent = (value: string, headers = valuesOf(VALUE)) =>
    injectPlaceholders([['authorization', value]], headers).reveal()

  test("a ticket represents an answer's token, and is replaced by it in a header", async () => {
    const answer = await (await answered('{"access_token":"ya29.secret","expires_in":3599}')).json()
    expect(answer).toEqual({
      access_token: expect.stringMatching(/^SVC_SECRET_ROBOT-ticket-[\w-]{40,}$/),
      expires_in: 3599,
    })
    const { headers, derived } = sent(`Bearer ${answer.access_token}`)
    expect(headers).toEqual([['authorization', 'Bearer ya29.secret']])
    // The guard of the answer searches for it.
    const bytes = new Uint8Array(Buffer.from('ya29.secret'))
    expect(derived).toEqual([{ name: 'ROBOT', bytes, hasFragments: true }])
    const basic = Buffer.from(`oauth2accesstoken:${answer.access_token}`).toString('base64')
    const filled = Buffer.from('oauth2accesstoken:ya29.secret').toString('base64')
    expect(sent(`Basic ${basic}`).headers).toEqual([['authorization', `Basic ${filled}`]])
  })

  test('a ticket for an ID token leaves its claims readable', async () => {
    for (const signature of ['c2ln', 'c2lnbmF0', 'c2lnbmF0dXJl', 'c2lnbmF0dXJlcw']) {
      const token = `${part({ alg: 'RS256' })}.${part({ exp: 1 })}.${signature}`
      const { id_token } = await (await answered(JSON.stringify({ id_token: token }))).json()
      const [head, body, third = ''] = id_token.split('.')
      expect(`${head}.${body}`).toBe(token.slice(0, token.lastIndexOf('.')))
      expect(third).toMatch(/^SVC_SECRET_ROBOT-ticket-[\w-]+$/)
      expect(third.length % 4).not.toBe(1)
      expect(sent(`Bearer ${id_token}`).headers).toEqual([['authorization', `Bearer ${token}`]])
    }
  })

  test('a ticket opens only with that value of that secret', async () => {
    const ticket = ticketIn(await (await answered('{"access_token":"ya29.secret"}')).text())
    expect(Buffer.from(openTicket('ROBOT', VALUE, ticket)).toString()).toBe('ya29.secret')
    const codeFor = (name: string, value: Uint8Array, text: string) => {
      try {
        return openTicket(name, value, text)
      } catch (error) {
        return error instanceof Fault ? error.code : error
      }
    }
    const altered = `${ticket.startsWith('A') ? 'B' : 'A'}${ticket.slice(1)}`
    expect(codeFor('OTHER', VALUE, ticket)).toBe('unusable_secret')
    expect(codeFor('ROBOT', Buffer.from('other'), ticket)).toBe('unusable_secret')
    expect(codeFor('ROBOT', VALUE, altered)).toBe('unusable_secret')
    expect(codeFor('ROBOT', VALUE, 'A'.repeat(40))).toBe('unusable_secret')
  })

  test('a ticket for a token that a header cannot carry is rejected', async () => {
    const text = await (await answered('{"access_token":"a\\r\\nx: y"}')).json()
    expect(() => sent(`Bearer ${text.access_token}`)).toThrow(Fault)
  })

  test('an error gets no ticket, and content that may hide a token is rejected', async () => {
    const refusal = await answered('{"error":"invalid_grant"}', { status: 400 })
    expect([refusal.status, await refusal.json()]).toEqual([400, { error: 'invalid_grant' }])
    expect(await (await answered('down', { status: 503 })).text()).toBe('down')
    for (const body of ['access_token=ya29.secret', '"ya29.secret"', '']) {
      expect(answered(body)).rejects.toMatchObject({ code: 'upstream_protocol_error' })
    }
    const long = `{"access_token":"${'x'.repeat(70_000)}"}`
    expect(answered(long)).rejects.toMatchObject({ code: 'upstream_too_large' })
  })
})
