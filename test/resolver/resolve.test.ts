// tier: quick, both databases always
/** POST /v1/resolve on the real listener: sent requests, rejected ones, and their audit records. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { formatSealedToken, parseToken, tokenAuth } from '../../src/core/crypto/token.ts'
import type { FaultCode } from '../../src/core/fault.ts'
import { messageOf, statusOf } from '../../src/core/fault.ts'
import { adviceFor } from '../../src/http/advice.ts'
import {
  type Agent,
  createAgentWithToken,
  expectRefused,
  recordOf,
  resolveAs,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { callJson } from '../support/app.ts'
import { marked } from '../support/canary.ts'

const KEY = marked('sk_live_0123456789abcdef')
const BEARER = { Authorization: 'Bearer SVC_SECRET_KEY' }

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, {
    secrets: {
      KEY,
      FOO: 'value-of-foo',
      FOO_BAR: 'value-of-foo-bar',
      PASSWORD: 'pä:ss wörd',
      NESTED: 'SVC_SECRET_FOO',
      CRLF: 'a\r\nX-Injected: 1',
      NUL: 'a\0b',
      CONTROL: 'a\x01b',
      DELETE: 'a\x7fb',
    },
  })
}, 30_000)
afterAll(() => stage.stop())
afterEach(() => {
  stage.upstream.received.length = 0
})

/** A rejection before the body was parsed: no decision, so no record, and nothing sent. */
async function expectTurnedAway(
  request: RequestInit,
  code: FaultCode,
  message: string = messageOf(code),
  path = '/v1/resolve',
) {
  const [sent, before] = [stage.upstream.bytes, await countRecords()]
  const response = await fetch(`${stage.app.resolver}${path}`, request)
  expect({ status: response.status, body: await response.json() }).toEqual({
    status: statusOf(code),
    body: { error_code: code, message, ...adviceFor(code) },
  })
  expect(await countRecords()).toBe(before)
  expect(stage.upstream.bytes).toBe(sent)
  return response
}

async function countRecords(): Promise<number> {
  await stage.app.flushAudit()
  const [row] = await stage.app.connection.sql<{ count: number }[]>`
    select count(*)::int as count from audit_logs where source = 'resolver'`
  return row?.count ?? 0
}

function post(body: RequestInit['body'], headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: {
      authorization: `Bearer ${agent.token}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  }
}

const target = () => stage.url('/v1/charges')

describe('a permitted call', () => {
  test('a permitted call is sent with the credential, and recorded with names only', async () => {
    const answer = await agent.resolve({
      target_url: stage.url('/v1/charges?limit=3#part'),
      method: 'POST',
      headers: { ...BEARER, 'X-Trace': 'abc' },
      body: '{"amount":1}',
    })
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: {
        status_code: 200,
        headers: { 'content-type': 'application/json' },
        body: '{"ok":true}',
        redacted: false,
      },
    })
    const [received] = stage.upstream.received
    expect(received).toMatchObject({ method: 'POST', path: '/v1/charges?limit=3' })
    expect(Buffer.from(received?.body ?? []).toString()).toBe('{"amount":1}')
    expect(Object.fromEntries(received?.headers ?? [])).toEqual({
      Authorization: `Bearer ${KEY}`,
      'X-Trace': 'abc',
      'User-Agent': expect.stringMatching(/^cloakroom\//),
      'Accept-Encoding': 'identity',
      Host: stage.authorityOf(),
      'Content-Length': '12',
      Connection: 'keep-alive',
      Accept: '*/*',
    })
    expect(await recordOf(stage.app, answer)).toEqual({
      id: answer.headers.get('x-request-id'),
      workspace_id: agent.workspaceId,
      timestamp: expect.any(String),
      recorded_at: expect.any(String),
      source: 'resolver',
      identity_level: 'agent',
      agent_id: expect.stringMatching(/^agent-\d+$/),
      registration_id: agent.registrationId,
      token_id: agent.tokenId,
      user_id: null,
      project_id: agent.projectId,
      environment: 'development',
      method: 'POST',
      target_url: target(),
      target_path: '/v1/charges',
      target_domain: 'api.upstream.example',
      credential_ref: 'KEY',
      injection_style: 'header',
      decision: 'allowed',
      reason: null,
      refused_by: null,
      unfilled: null,
      approval_id: null,
      status_code: 200,
      duration_ms: expect.any(Number),
      redacted: false,
      action: null,
      resource: null,
      client_id: null,
      content_hash: null,
    })
  })

  test('a permitted call needs no credential', async () => {
    const answer = await agent.resolve({ target_url: target() })
    expect(answer.status).toBe(200)
    expect(stage.upstream.received[0]?.header('authorization')).toBeUndefined()
    expect(await recordOf(stage.app, answer)).toMatchObject({
      decision: 'allowed',
      credential_ref: null,
      injection_style: null,
    })
  })

  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'a permitted call keeps its method: %s',
    async (method) => {
      const { status } = await agent.resolve({ target_url: target(), method })
      expect({ status, seen: stage.upstream.received.map((request) => request.method) }).toEqual({
        status: 200,
        seen: [method],
      })
    },
  )

  test('a permitted call sends the bytes of a base64 body', async () => {
    const body = Buffer.from([0, 255, 1, 254]).toString('base64')
    await agent.resolve({ target_url: target(), method: 'PUT', body, body_encoding: 'base64' })
    expect([...(stage.upstream.received[0]?.body ?? [])]).toEqual([0, 255, 1, 254])
  })

  test('a permitted call inserts several secrets into several headers, and lists them in order of use', async () => {
    const answer = await agent.resolve({
      target_url: target(),
      headers: {
        'X-Pair': 'SVC_SECRET_FOO,SVC_SECRET_KEY',
        Authorization: `Basic ${btoa('ada:SVC_SECRET_PASSWORD')}`,
        'X-Again': 'SVC_SECRET_FOO',
      },
    })
    const [received] = stage.upstream.received
    expect(received?.header('x-pair')).toBe(`value-of-foo,${KEY}`)
    expect(received?.header('authorization')).toBe(
      `Basic ${Buffer.from('ada:pä:ss wörd').toString('base64')}`,
    )
    expect(await recordOf(stage.app, answer)).toMatchObject({
      credential_ref: 'FOO,KEY,PASSWORD',
      injection_style: 'header,header,basic',
    })
  })

  test('a permitted call uses the longest name, and never scans an inserted value again', async () => {
    const headers = {
      'X-Long': 'SVC_SECRET_FOO_BAR',
      'X-Short': 'SVC_SECRET_FOO-BAR',
      'X-Adjacent': 'SVC_SECRET_FOO.SVC_SECRET_FOO_BAR',
      'X-Nested': 'SVC_SECRET_NESTED',
    }
    await agent.resolve({ target_url: target(), headers })
    const sent = Object.fromEntries(stage.upstream.received[0]?.headers ?? [])
    expect(sent).toMatchObject({
      'X-Long': 'value-of-foo-bar',
      'X-Short': 'value-of-foo-BAR',
      'X-Adjacent': 'value-of-foo.value-of-foo-bar',
      'X-Nested': 'SVC_SECRET_FOO',
    })
  })

  test('a permitted call leaves placeholders in URL and body literal', async () => {
    await agent.resolve({
      target_url: stage.url('/p/SVC_SECRET_KEY?q=SVC_SECRET_KEY'),
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"key":"SVC_SECRET_KEY"}',
    })
    const [received] = stage.upstream.received
    expect(received?.path).toBe('/p/SVC_SECRET_KEY?q=SVC_SECRET_KEY')
    expect(Buffer.from(received?.body ?? []).toString()).toBe('{"key":"SVC_SECRET_KEY"}')
  })

  test('a permitted call is answered without a final slash and with one', async () => {
    const { status } = await callJson(stage.app.resolver, 'POST', '/v1/resolve/', {
      token: agent.token,
      body: { target_url: target() },
    })
    expect(status).toBe(200)
  })

  test('the caller may not set the coding of the answer', async () => {
    await agent.resolve({ target_url: target(), headers: { 'accept-ENCODING': 'gzip' } })
    expect(stage.upstream.received[0]?.header('accept-encoding')).toBe('identity')
  })
})

describe('the request itself', () => {
  const plain = messageOf('malformed_json')
  const malformed: [string, string | Uint8Array<ArrayBuffer>, string][] = [
    ['nothing', '', plain],
    ['half an object', '{"target_url":', plain],
    ['trailing garbage', '{} x', plain],
    ['NaN', '{"timeout_ms":NaN}', plain],
    ['a byte order mark', '\ufeff{}', plain],
    ['duplicate keys', '{"method":"GET","method":"POST"}', 'The request body has a duplicate key.'],
    [
      'duplicate keys, one escaped',
      '{"headers":{"a":"1","\\u0061":"2"}}',
      'The request body has a duplicate key.',
    ],
    ['__proto__', '{"headers":{"__proto__":"x"}}', 'The request body has a forbidden key.'],
    ['constructor', '{"constructor":{}}', 'The request body has a forbidden key.'],
    [
      'depth 33',
      `${'['.repeat(33)}${']'.repeat(33)}`,
      'The request body is nested deeper than 32.',
    ],
    ['invalid UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'The request body is not valid UTF-8.'],
  ]
  test.each(malformed)('a request is 400 malformed_json with %s', async (_, body, message) => {
    await expectTurnedAway(post(body), 'malformed_json', message)
  })

  test('a request is 413 over 10 MiB, declared or chunked', async () => {
    const bytes = Buffer.alloc(10 * 1024 * 1024 + 1, ' ')
    const message = 'The request body may have at most 10485760 bytes.'
    await expectTurnedAway(post(bytes), 'payload_too_large', message)
    const stream = new ReadableStream({
      start: (controller) => {
        for (let at = 0; at < bytes.length; at += 65_536)
          controller.enqueue(bytes.subarray(at, at + 65_536))
        controller.close()
      },
    })
    await expectTurnedAway(post(stream), 'payload_too_large', message)
  })

  test('a request is accepted up to exactly 10 MiB', async () => {
    const text = JSON.stringify({ target_url: target() })
    const padded = text + ' '.repeat(10 * 1024 * 1024 - text.length)
    expect((await agent.resolve(padded)).status).toBe(200)
  })

  test.each([
    ['no type', ''],
    ['a form', 'application/x-www-form-urlencoded'],
    ['another charset', 'application/json; charset=utf-16'],
    ['text', 'text/plain'],
  ])('a request is 415 with %s', async (_, type) => {
    const body = JSON.stringify({ target_url: target() })
    await expectTurnedAway(post(body, { 'content-type': type }), 'unsupported_media_type')
  })

  test('a compressed request is 415', async () => {
    const body = gzipSync(JSON.stringify({ target_url: target() }))
    await expectTurnedAway(post(body, { 'content-encoding': 'gzip' }), 'unsupported_media_type')
  })

  const invalid: [string, Record<string, unknown>, string][] = [
    ['an unknown field', { retries: 3 }, 'retries: is not a field of this request'],
    ['no target', { target_url: undefined }, 'target_url'],
    ['a lower-case method', { method: 'get' }, 'method'],
    ['TRACE', { method: 'TRACE' }, 'method'],
    ['CONNECT', { method: 'CONNECT' }, 'method'],
    ['an invented method', { method: 'PURGE' }, 'method'],
    ['GET with a body', { method: 'GET', body: 'x' }, 'body: is not possible with GET or HEAD'],
    ['HEAD with a body', { method: 'HEAD', body: 'x' }, 'body: is not possible with GET or HEAD'],
    ['timeout_ms 0', { timeout_ms: 0 }, 'timeout_ms'],
    ['timeout_ms 600001', { timeout_ms: 600_001 }, 'timeout_ms'],
    ['timeout_ms 1.5', { timeout_ms: 1.5 }, 'timeout_ms'],
    ['timeout_ms as text', { timeout_ms: '7' }, 'timeout_ms'],
    ['another body_encoding', { method: 'PUT', body: 'x', body_encoding: 'hex' }, 'body_encoding'],
    [
      'a body that is not base64',
      { method: 'PUT', body: 'AAA', body_encoding: 'base64' },
      'body: must be canonical base64 with padding',
    ],
    ['an invalid project id', { project_id: 'main' }, 'project_id'],
    ['an invalid environment', { environment: 'Prod!' }, 'environment'],
    ['header values that are no text', { headers: { a: 1 } }, 'headers.a'],
    ['a list of headers', { headers: [['a', 'b']] }, 'headers'],
  ]
  test.each(['GET', 'HEAD'])(
    'a request may have an empty body with %s, which counts as no body',
    async (method) => {
      const { body } = await agent.resolve({ target_url: target(), method, body: '' })
      expect(body).toMatchObject({ status_code: 200 })
      expect(stage.upstream.received[0]?.header('content-length')).toBeUndefined()
    },
  )

  test.each(invalid)('a request is 422 with %s', async (_, change, complaint) => {
    const [sent, before] = [stage.upstream.bytes, await countRecords()]
    const { status, body } = await agent.resolve({ target_url: target(), ...change })
    expect({ status, body }).toEqual({
      status: 422,
      body: {
        error_code: 'validation_error',
        message: expect.any(String),
        ...adviceFor('validation_error'),
      },
    })
    expect((body as { message: string }).message).toStartWith(
      `Some fields are invalid. ${complaint}`,
    )
    expect(await countRecords()).toBe(before)
    expect(stage.upstream.bytes).toBe(sent)
  })

  test('a request is 404 on another path, 405 with Allow for another method', async () => {
    await expectTurnedAway(post('{}'), 'not_found', messageOf('not_found'), '/v1/other')
    const response = await expectTurnedAway({ method: 'GET' }, 'method_not_allowed')
    expect(response.headers.get('allow')).toBe('POST')
  })

  test('a request is 500 internal_error without details after an internal failure', async () => {
    const { sql } = stage.app.connection
    const broken = await createAgentWithToken(stage, { domains: [] })
    await sql`alter table allowlist_entries rename to elsewhere`
    const answer = await broken.resolve({ target_url: target(), headers: BEARER })
    await sql`alter table elsewhere rename to allowlist_entries`
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 500,
      body: {
        error_code: 'internal_error',
        message: messageOf('internal_error'),
        ...adviceFor('internal_error'),
      },
    })
    expect(await recordOf(stage.app, answer)).toBeNull()
    expect(stage.upstream.received).toEqual([])
    const line = stage.app.logs.find((text) =>
      text.includes(`"request_id":"${answer.headers.get('x-request-id')}"`),
    )
    expect(line).toContain('"code":"42P01"')
    expect(line).not.toContain('allowlist_entries')
  })

  test('a request is 400 invalid_host under a foreign host name', async () => {
    await expectTurnedAway(post('{}', { host: 'evil.example' }), 'invalid_host')
  })
})

describe('the target', () => {
  const bad = [
    'http://api.upstream.example/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'ftp://api.upstream.example/',
    '/relative',
    '//api.upstream.example/',
    'https:api.upstream.example/',
    'https://user:pw@api.upstream.example/',
    'https://@api.upstream.example/',
    'https://api.upstream.example:0/',
    'https://api.upstream.example:65536/',
    'https://api.upstream.example/\r\nX: 1',
    'https://api.upstream.example\\@evil.example/',
    'https://',
    '',
    `https://api.upstream.example/${'a'.repeat(8192)}`,
  ]
  test.each(bad.map((url) => [url.slice(0, 60), url]))(
    'the target is 400 invalid_target: %j',
    async (_, url) => {
      const record = await expectRefused(
        stage,
        agent,
        { target_url: url, headers: BEARER },
        'invalid_target',
      )
      expect(record).toMatchObject({ target_url: null, credential_ref: null })
    },
  )

  const elsewhere = [
    'evil.example',
    'upstream.example',
    'sub.api.upstream.example',
    'api.upstream.example.evil.example',
    'evil-api.upstream.example',
    'xapi.upstream.example',
    'api-upstream.example',
    'аpi.upstream.example',
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '169.254.169.254',
    '１２７.0.0.1',
  ]
  test.each(elsewhere)(
    'the target is 403 domain_blocked, and never looked up: %s',
    async (host) => {
      stage.lookups.length = 0
      await expectRefused(
        stage,
        agent,
        { target_url: stage.url('/', host), headers: BEARER },
        'domain_blocked',
      )
      expect(stage.lookups).toEqual([])
    },
  )

  test('the target is blocked on a port that the entry does not name', async () => {
    for (const port of [443, 8443, stage.upstream.port + 1]) {
      const url = `https://api.upstream.example:${port}/`
      await expectRefused(stage, agent, { target_url: url }, 'domain_blocked')
    }
  })

  test('the target is checked in its canonical form', async () => {
    for (const host of ['API.Upstream.EXAMPLE', 'api.upstream.example.', 'ａpi.upstream.example']) {
      const { status } = await agent.resolve({ target_url: stage.url('/canon', host) })
      expect({ host, status }).toEqual({ host, status: 200 })
    }
    expect(new Set(stage.upstream.received.map((request) => request.header('host')))).toEqual(
      new Set([stage.authorityOf()]),
    )
  })

  test('the target is blocked for all while the allowlist is empty', async () => {
    const lonely = await createAgentWithToken(stage, { domains: [] })
    await expectRefused(stage, lonely, { target_url: target() }, 'domain_blocked')
  })
})

describe('headers', () => {
  test.each(['a\rb', 'a\nb', 'a\0b', 'a\x01b', 'a\x7fb', 'ä', '\u{1f600}'])(
    'headers are 400 invalid_header with %j in a value',
    async (value) => {
      await expectRefused(
        stage,
        agent,
        { target_url: target(), headers: { 'X-A': value } },
        'invalid_header',
        'A header value has an invalid character. headers: A header value has an invalid character.',
      )
    },
  )

  test.each(['', 'a b', 'a:b', 'a\r\nb', 'ä', 'a\0'])(
    'headers are 400 invalid_header with the name %j',
    async (name) => {
      const message = 'A header name is invalid. headers: A header name is invalid.'
      const body = { target_url: target(), headers: { [name]: 'x' } }
      await expectRefused(stage, agent, body, 'invalid_header', message)
    },
  )

  test('headers are 400 invalid_header with a placeholder in a name, also in lower case', async () => {
    const message =
      'A header name contains a placeholder. headers: A header name contains a placeholder.'
    for (const name of ['SVC_SECRET_KEY', 'X-svc_secret_KEY']) {
      const body = { target_url: target(), headers: { [name]: 'x' } }
      await expectRefused(stage, agent, body, 'invalid_header', message)
    }
  })

  test('headers are 400 invalid_header when one is given twice, or they exceed 64 KiB', async () => {
    await expectRefused(
      stage,
      agent,
      { target_url: target(), headers: { 'X-A': '1', 'x-a': '2' } },
      'invalid_header',
      'A header is repeated with different case. headers: A header is repeated with different case.',
    )
    await expectRefused(
      stage,
      agent,
      { target_url: target(), headers: { 'X-A': 'a'.repeat(65_536) } },
      'invalid_header',
      'The headers are too large. headers: The headers are too large.',
    )
  })

  test.each(['SVC_SECRET_', 'SVC_SECRET_1', `SVC_SECRET_${'A'.repeat(129)}`])(
    'headers are 400 invalid_header with the malformed placeholder %s',
    async (value) => {
      const message =
        'A placeholder has no valid secret name. headers: A placeholder has no valid secret name.'
      const body = { target_url: target(), headers: { 'X-A': value } }
      await expectRefused(stage, agent, body, 'invalid_header', message)
    },
  )

  const forbidden = [
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Keep-Alive',
    'Upgrade',
    'Expect',
    'TE',
    'Trailer',
    'Proxy-Authorization',
    'Proxy-Connection',
    'proxy-x',
  ]
  test.each(forbidden)('headers are 400 forbidden_header: %s', async (name) => {
    const shown = name.toLowerCase().startsWith('proxy-') ? 'proxy-*' : name.toLowerCase()
    const sentence = `Only the resolver can set the header ${shown}.`
    await expectRefused(
      stage,
      agent,
      { target_url: target(), headers: { ...BEARER, [name]: 'x' } },
      'forbidden_header',
      `${sentence} headers: ${sentence}`,
    )
  })

  test.each(['CRLF', 'NUL', 'CONTROL', 'DELETE', 'PASSWORD'])(
    'headers are 422 unusable_secret when they cannot contain the secret %s',
    async (name) => {
      const record = await expectRefused(
        stage,
        agent,
        { target_url: target(), headers: { 'X-A': `SVC_SECRET_${name}` } },
        'unusable_secret',
        `The secret ${name} contains characters that cannot be sent in a header.`,
      )
      expect(record).toMatchObject({ credential_ref: name, injection_style: 'header' })
    },
  )

  test('headers carry such a secret inside Basic credentials', async () => {
    const credentials = btoa('ada:SVC_SECRET_CRLF')
    await agent.resolve({
      target_url: target(),
      headers: { Authorization: `Basic ${credentials}` },
    })
    expect(stage.upstream.received[0]?.header('authorization')).toBe(
      `Basic ${btoa('ada:a\r\nX-Injected: 1')}`,
    )
  })

  test('headers are 422 unusable_secret when secrets make them exceed 64 KiB', async () => {
    await agent.store('HUGE', 'h'.repeat(40_000))
    await expectRefused(
      stage,
      agent,
      { target_url: target(), headers: { A: 'SVC_SECRET_HUGE', B: 'b'.repeat(30_000) } },
      'unusable_secret',
      'With the secrets in place the headers exceed 64 KiB.',
    )
  })
})

describe('names of secrets', () => {
  test.each(['MISSING', 'FOO_', 'FOO_BARS', 'foo', 'KEYS', 'prototype', '__proto__'])(
    'a name is 422 unknown_secret if no secret has exactly that name: %s',
    async (name) => {
      await expectRefused(
        stage,
        agent,
        { target_url: target(), headers: { 'X-A': `SVC_SECRET_KEY SVC_SECRET_${name}` } },
        'unknown_secret',
        `No secret ${name} is available to this token.`,
      )
    },
  )

  test('names of another project or environment are unknown, like names that do not exist', async () => {
    const bound = await createAgentWithToken(stage, {
      ofProject: true,
      secrets: { OWN: 'own-value-1' },
    })
    const other = await bound.addProject('other')
    await bound.store('THEIRS', 'their-value-1', { projectId: other })
    await bound.store('STAGED', 'staged-value-1', { environment: 'staging' })
    for (const name of ['THEIRS', 'STAGED', 'NOBODYS']) {
      await expectRefused(
        stage,
        bound,
        { target_url: target(), headers: { 'X-A': `SVC_SECRET_${name}` } },
        'unknown_secret',
        `No secret ${name} is available to this token.`,
      )
    }
    const call = { target_url: target(), headers: { 'X-A': 'SVC_SECRET_NOBODYS' } }
    expect((await bound.resolve(call)).body).toMatchObject({
      fix: { command: ['cloakroom', 'secrets', 'set', 'NOBODYS', '-e', 'development'] },
    })
    await expectRefused(
      stage,
      bound,
      { target_url: target(), headers: BEARER },
      'unknown_secret',
      'No secret KEY is available to this token.',
    )
  })

  test('names are 409 key_not_provisioned without a grant for their project and environment', async () => {
    const bound = await createAgentWithToken(stage)
    await bound.store('STAGED', 'staged-value-1', { environment: 'staging' })
    const record = await expectRefused(
      stage,
      bound,
      {
        target_url: target(),
        environment: 'staging',
        headers: { 'X-A': 'SVC_SECRET_STAGED' },
      },
      'key_not_provisioned',
    )
    expect(record).toMatchObject({ environment: 'staging', credential_ref: 'STAGED' })
  })

  test('names are 422 ambiguous_secret in two projects until the call names one', async () => {
    const wide = await createAgentWithToken(stage, { secrets: { SHARED: 'of-main-project' } })
    const other = await wide.addProject('other')
    await wide.store('SHARED', 'of-other-project', { projectId: other })
    await wide.provision(undefined, other)
    const call = { target_url: target(), headers: { 'X-A': 'SVC_SECRET_SHARED' } }
    await expectRefused(
      stage,
      wide,
      call,
      'ambiguous_secret',
      'Several projects have a secret SHARED. Name the project.',
    )
    await wide.resolve({ ...call, project_id: other })
    expect(stage.upstream.received[0]?.header('x-a')).toBe('of-other-project')
  })
})

describe('scope', () => {
  test('a call that names another project or environment is 403 scope_required', async () => {
    const bound = await createAgentWithToken(stage, { ofProject: true })
    const other = await bound.addProject('other')
    const call = { target_url: target(), project_id: other }
    const own = `The token is for the project_id ${bound.projectId} only.`
    await expectRefused(stage, bound, call, 'scope_required', own)
    const { text: staging } = await bound.issue({ environment: 'staging' })
    const answer = await resolveAs(stage.app.resolver, staging, {
      target_url: target(),
      environment: 'production',
    })
    const message = 'The token is for the environment staging only.'
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 403,
      body: { error_code: 'scope_required', message, ...adviceFor('scope_required') },
    })
    expect(await recordOf(stage.app, answer)).toMatchObject({
      decision: 'blocked',
      reason: 'scope_required',
    })
  })

  test('a call with the sealed form of a token is 403 scope_required, before the body is read', async () => {
    const { id, secret } = parseToken(agent.token) ?? { id: '', secret: new Uint8Array(32) }
    expect(tokenAuth(id, secret)).not.toEqual(secret)
    const before = stage.upstream.bytes
    const answer = await resolveAs(stage.app.resolver, formatSealedToken(id, secret), 'not json')
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 403,
      body: {
        error_code: 'scope_required',
        message: 'The sealed form of a token cannot open what this needs: send the token itself.',
        ...adviceFor('scope_required'),
      },
    })
    expect(await recordOf(stage.app, answer)).toMatchObject({
      decision: 'blocked',
      reason: 'scope_required',
      token_id: agent.tokenId,
    })
    expect(stage.upstream.bytes).toBe(before)
  })
})

describe('policies', () => {
  test('policies narrow the allowlist, and never widen it', async () => {
    const bound = await createAgentWithToken(stage)
    const call = (change: object = {}) => ({
      target_url: stage.url('/v1/charges'),
      method: 'POST',
      headers: { Authorization: 'Bearer SVC_SECRET_P' },
      ...change,
    })
    const own = stage.authorityOf()
    const permitted = [
      { allowed_domains: [own] },
      { allowed_domains: [`*.upstream.example:${stage.upstream.port}`] },
      { allowed_methods: ['POST'] },
      { allowed_paths: ['/v1'] },
      { allowed_headers: ['authorization'] },
      { allowed_locations: ['header'] },
      {},
    ]
    for (const policy of permitted) {
      await bound.store('P', 'value-of-p', { policy: policy as never })
      expect({ policy, status: (await bound.resolve(call())).status }).toEqual({
        policy,
        status: 200,
      })
    }
    const refused = [
      { allowed_domains: ['other.example'] },
      { allowed_domains: [] },
      { allowed_methods: ['GET'] },
      { allowed_methods: [] },
      { allowed_paths: ['/v1/chargesx'] },
      { allowed_paths: ['/v1/charges/'] },
      { allowed_paths: [] },
      { allowed_headers: ['X-Key'] },
      { allowed_headers: [] },
      { allowed_locations: ['basic'] },
      { allowed_locations: [] },
    ]
    for (const policy of refused) {
      await bound.store('P', 'value-of-p', { policy: policy as never })
      const [[field = '', permitted = []] = []] = Object.entries(policy)
      const what = field.replace('allowed_', '').replace('domain', 'host').replace(/s$/, '')
      const message = `The policy of the secret P does not permit this ${what} (${field}: ${permitted[0] ?? 'none'}).`
      await expectRefused(stage, bound, call(), 'policy_blocked', message)
    }
    await bound.store('P', 'value-of-p', { policy: { allowed_domains: ['evil.example'] } })
    await expectRefused(
      stage,
      bound,
      call({ target_url: stage.url('/', 'evil.example') }),
      'domain_blocked',
    )
  })

  test('policies that were altered in the database make the secret unreadable, not more permissive', async () => {
    const bound = await createAgentWithToken(stage)
    await bound.store('P', 'value-of-p', { policy: { allowed_methods: ['GET'] } })
    const { sql } = stage.app.connection
    const call = {
      target_url: target(),
      method: 'DELETE',
      headers: { 'X-A': 'SVC_SECRET_P' },
    }
    const blocked = 'The policy of the secret P does not permit this method (allowed_methods: GET).'
    await expectRefused(stage, bound, call, 'policy_blocked', blocked)
    const unreadable =
      'The secret P cannot be decrypted. It was altered or sealed with another key.'
    for (const altered of [null, '{}', '{"allowed_methods":["GET","DELETE"]}']) {
      await sql`update secrets set policy = ${altered}::text::json
        where workspace_id = ${bound.workspaceId}`
      await expectRefused(stage, bound, call, 'unreadable_secret', unreadable)
    }
  })
})

test("a server without tracing adds no trace header, and keeps the caller's own", async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const call = { target_url: stage.url('/'), trace: true }
  expect((await agent.resolve(call)).status).toBe(200)
  expect((await agent.resolve({ ...call, headers: { traceparent } })).status).toBe(200)
  expect(stage.upstream.received.map((one) => one.header('traceparent'))).toEqual([
    undefined,
    traceparent,
  ])
})
