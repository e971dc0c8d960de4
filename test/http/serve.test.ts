// tier: quick
/** The pipeline: order of checks, shapes, headers and permitted log contents. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type FaultCode, type FieldFault, messageOf } from '../../src/core/fault.ts'
import { adviceFor } from '../../src/http/advice.ts'
import { sentenceOf } from '../support/failure.ts'
import { until } from '../support/until.ts'
import { CALLER, openTiny, PROJECT, READER, type TinyListener, WORKSPACE } from './tiny_listener.ts'

let tiny: TinyListener

beforeAll(() => {
  tiny = openTiny()
})
beforeEach(() => {
  tiny.events.length = 0
  tiny.logs.length = 0
  tiny.notices.length = 0
})
afterAll(() => tiny.listener.close(100))

type Options = { token?: string; body?: string; headers?: Record<string, string> }

async function call(method: string, path: string, { token, body, headers }: Options = {}) {
  const response = await fetch(`${tiny.origin}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : JSON.parse(text),
  }
}

const failed = (code: FaultCode, more: { fields?: FieldFault[]; message?: string } = {}) => ({
  status: 'failure',
  error_code: code,
  message: sentenceOf(code, messageOf(code), more.fields),
  ...adviceFor(code),
  request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  ...more,
})

const item = `/items/${WORKSPACE}/a/`
const foreign = '/items/018f0000-0000-7000-8000-00000000000f/a/'

describe('order of checks', () => {
  test('an unknown path is 404 before authentication', async () => {
    const { status, body } = await call('GET', '/nowhere/', { token: 'nobody' })
    expect([status, body]).toEqual([404, failed('not_found')])
  })

  test('a known path with another method is 405 before authentication, and names the methods', async () => {
    const { status, body, headers } = await call('POST', item)
    expect([status, body]).toEqual([405, failed('method_not_allowed')])
    expect(headers.get('allow')).toBe('GET, HEAD, PUT')
  })

  test('a request is 401 before its path, query or body is checked', async () => {
    for (const path of [item, foreign, '/items/no-id/a/', `/items/${WORKSPACE}/A%20B/`]) {
      const { status, body, headers } = await call('PUT', path, { body: 'not json' })
      expect([status, body]).toEqual([401, failed('invalid_token')])
      expect(headers.get('www-authenticate')).toBe('Bearer')
    }
    expect((await call('GET', '/list/?limit=0&limit=0')).status).toBe(401)
    expect(tiny.events).toEqual([])
  })

  test('a request for an unknown tenant is 404 before 403, and both before its body is read', async () => {
    const hopeless = { body: '{"text":1,', headers: { 'content-type': 'text/plain' } }
    const unknown = await call('PUT', foreign, { token: READER, ...hopeless })
    expect([unknown.status, unknown.body]).toEqual([404, failed('not_found')])
    const denied = await call('PUT', item, { token: READER, ...hopeless })
    expect([denied.status, denied.body]).toEqual([403, failed('forbidden')])
    expect(tiny.events).not.toContain('write')
  })

  test('an invalid ID gets 404 without a query', async () => {
    const { status, body } = await call('GET', '/items/not-an-id/a/', { token: CALLER })
    expect([status, body]).toEqual([404, failed('not_found')])
    expect(tiny.events).toEqual([])
  })

  test('an allowed request is then checked for 415, 413, 400 and 422', async () => {
    const put = (body: string, headers: Record<string, string> = {}) =>
      call('PUT', item, { token: CALLER, body, headers })
    expect((await put('{"a', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await put(' '.repeat(1_048_577))).status).toBe(413)
    expect((await put('{"text":1,')).body).toEqual(failed('malformed_json'))
    const invalid = await put('{"text":1,"more":2}')
    expect([invalid.status, invalid.body]).toEqual([
      422,
      failed('validation_error', {
        fields: [
          { path: 'text', message: 'must be of type string' },
          { path: 'more', message: 'is not a field of this request' },
        ],
      }),
    ])
    expect(tiny.events).not.toContain('write')
  })

  test('the body is read before the rights are checked if it names the tenant', async () => {
    const post = (body: string, token: string) => call('POST', '/in-body/', { token, body })
    expect((await post('{', READER)).status).toBe(400)
    expect((await post('{"project_id":"x"}', READER)).status).toBe(422)
    expect((await post(`{"project_id":"${foreign.slice(7, 43)}"}`, READER)).status).toBe(404)
    expect((await post(`{"project_id":"${PROJECT}"}`, READER)).status).toBe(403)
    expect((await post(`{"project_id":"${PROJECT}"}`, CALLER)).status).toBe(200)
  })

  test('an invalid query of a foreign resource gets 404', async () => {
    const { status } = await call('GET', `${foreign}?a=1&a=2`, { token: CALLER })
    expect(status).toBe(404)
  })

  test('a role is checked twice: before the body is read, and in the transaction', async () => {
    await call('PUT', item, { token: CALLER, body: '{"text":"a"}' })
    const asked = `authorise workspace.update {"workspaceId":"${WORKSPACE}"}`
    expect(tiny.events).toEqual([asked, asked, 'write'])
  })

  test('preparation before the transaction uses the grant from before the body', async () => {
    const path = item.replace('items', 'prepared')
    await call('PUT', path, { token: CALLER, body: '{"text":"a"}' })
    const asked = `authorise workspace.update {"workspaceId":"${WORKSPACE}"}`
    expect(tiny.events).toEqual([asked, 'prepare', asked, 'write'])
  })
})

describe('the active workspace', () => {
  const post = (path: string, headers: Record<string, string>, body = '{}') =>
    call('POST', path, { token: CALLER, body, headers })
  const asked = (workspaceId?: string) =>
    `authorise project.write ${JSON.stringify({ workspaceId })}`
  const another = '018f0000-0000-7000-8000-00000000000a'

  test('the header names the active workspace, else the query, else the body', async () => {
    await post(`/active/?workspace_id=${another}`, { 'x-workspace-id': WORKSPACE })
    await post(`/active/?workspace_id=${WORKSPACE}`, {}, `{"workspace_id":"${another}"}`)
    await post('/active/', {}, `{"workspace_id":"${WORKSPACE}"}`)
    await post('/active/', {})
    expect([...new Set(tiny.events)]).toEqual([asked(WORKSPACE), asked()])
  })

  test('an invalid workspace ID, or two of them, gets 404', async () => {
    expect((await post('/active/', { 'x-workspace-id': 'x' })).status).toBe(404)
    expect(
      (await post('/active/', { 'x-workspace-id': `${WORKSPACE}, ${WORKSPACE}` })).status,
    ).toBe(404)
    expect((await post('/active/?workspace_id=', {})).status).toBe(404)
    expect(tiny.events).toEqual([])
  })

  test('rights in a workspace named by the header are checked before the body', async () => {
    const denied = await call('POST', '/active/', {
      token: READER,
      body: '{',
      headers: { 'x-workspace-id': WORKSPACE },
    })
    expect(denied.status).toBe(403)
  })
})

describe('answers', () => {
  test('every response carries the common headers, whatever its status', async () => {
    const responses = [
      await call('GET', '/hello/'),
      await call('GET', '/nowhere/'),
      await call('DELETE', '/hello/'),
      await call('GET', '/list/'),
      await call('POST', '/fails/defect/'),
      await call('POST', '/echo/', { body: '{' }),
    ]
    for (const { headers, body } of responses) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'application/json;charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      if (body.status === 'failure') expect(body.request_id).toBe(headers.get('x-request-id'))
    }
  })

  test('successful responses have 201 if a resource was created, else 200', async () => {
    const old = await call('PUT', item, { token: CALLER, body: '{"text":"old"}' })
    expect([old.status, old.body]).toEqual([200, { status: 'success', data: { text: 'old' } }])
    const made = await call('PUT', item, { token: CALLER, body: '{"text":"new"}' })
    expect([made.status, made.body]).toEqual([201, { status: 'success', data: { text: 'new' } }])
  })

  test('lists report whether there are more rows', async () => {
    const { body } = await call('GET', '/list/', { token: CALLER })
    expect(body).toEqual({ status: 'success', data: [], pagination: { next_cursor: null } })
  })

  test('an absent body is {} if it is optional, else invalid JSON', async () => {
    expect((await call('POST', '/optional/')).body).toEqual({
      status: 'success',
      data: { word: null },
    })
    expect((await call('POST', '/optional/', { body: '' })).status).toBe(200)
    expect((await call('POST', '/optional/', { body: '{"word":"a"}' })).body.data.word).toBe('a')
    expect((await call('POST', '/optional/', { body: '[]' })).status).toBe(422)
    expect((await call('POST', '/echo/')).status).toBe(415)
    expect((await call('POST', '/echo/', { body: '' })).body).toEqual(failed('malformed_json'))
  })

  test('a repeated query parameter is 422, and no query changes a prototype', async () => {
    const twice = await call('GET', '/hello/?name=a&name=b')
    expect([twice.status, twice.body]).toEqual([
      422,
      failed('validation_error', { fields: [{ path: 'name', message: 'is given twice' }] }),
    ])
    for (const name of ['__proto__', 'constructor', 'toString', 'other']) {
      const { status, body } = await call('GET', `/hello/?${name}=a`)
      expect([status, body.fields]).toEqual([
        422,
        [{ path: name, message: 'is not a field of this request' }],
      ])
    }
  })
})

describe('failures inside', () => {
  test('a lost database is 503 with Retry-After', async () => {
    const { status, body, headers } = await call('POST', '/fails/database/')
    expect([status, body]).toEqual([503, failed('unavailable')])
    expect(headers.get('retry-after')).toBe('2')
  })

  test.each(['defect', 'not-an-error', 'shape'])(
    'a failure of kind %s gets 500 without details',
    async (how) => {
      const { status, body } = await call('POST', `/fails/${how}/`)
      expect([status, body]).toEqual([500, failed('internal_error')])
    },
  )

  test('internal failures are logged with the request ID, but without data', async () => {
    for (const how of ['database', 'defect', 'not-an-error', 'shape']) {
      tiny.logs.length = 0
      const { headers } = await call('POST', `/fails/${how}/`)
      const [failure, request] = tiny.logs.map((line) => JSON.parse(line))
      const request_id = headers.get('x-request-id')
      expect(failure).toMatchObject({ level: 'error', request_id })
      expect(request).toMatchObject({ level: 'info', request_id, route: '/fails/{how}/' })
      expect(tiny.logs.join('')).not.toContain('hunter2')
    }
  })

  test('a fault keeps its own message', async () => {
    const { status, body } = await call('POST', '/fails/otherwise/')
    expect([status, body]).toEqual([409, failed('conflict', { message: 'Somebody was faster.' })])
  })
})

test('the log names the route without its parameters, query, body or token', async () => {
  await call('GET', `/items/${WORKSPACE}/marked/?token=hunter2`, {
    token: CALLER,
    headers: { cookie: 'hunter2', 'user-agent': 'hunter2', 'x-workspace-id': 'hunter2' },
  })
  await call('POST', '/echo/', { body: '{"hunter2":"hunter2"}' })
  await call('GET', '/hunter2/?hunter2')
  expect(tiny.logs.map((line) => JSON.parse(line))).toMatchObject([
    {
      message: 'request',
      listener: 'control-plane',
      method: 'GET',
      route: '/items/{workspace_id}/{item}/',
      status: 200,
    },
    { route: '/echo/', status: 200 },
    { route: null, status: 404 },
  ])
  for (const trace of ['hunter2', 'marked', WORKSPACE, CALLER])
    expect(tiny.logs.join('')).not.toContain(trace)
})

describe('limits', () => {
  test('the limit of a session answers 429 with Retry-After, and its state is in every response', async () => {
    const limited = openTiny({ apiRate: { count: 2, seconds: 10 } })
    const list = (token: string) =>
      fetch(`${limited.origin}/list/`, { headers: { authorization: `Bearer ${token}` } })
    const first = await list(CALLER)
    expect(first.headers.get('ratelimit')).toBe('"default";r=1;t=5')
    expect(first.headers.get('ratelimit-policy')).toBe('"default";q=2;w=10')
    await list(CALLER)
    const third = await list(CALLER)
    expect([third.status, await third.json()]).toEqual([429, failed('rate_limited')])
    expect(third.headers.get('retry-after')).toBe('5')
    expect((await list(READER)).status).toBe(200)
    limited.clock.advance(5000)
    expect((await list(CALLER)).status).toBe(200)
    await limited.listener.close(100)
  })

  test('the limit of a network applies before the body is read', async () => {
    const limited = openTiny({ loginRate: { count: 1, seconds: 10 } })
    const post = (body: string) =>
      fetch(`${limited.origin}/echo/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
    expect((await post('not json')).status).toBe(400)
    expect((await post('not json')).status).toBe(429)
    await limited.listener.close(100)
  })
})

test('the resolver’s errors have their own shape, with the fields in the message', async () => {
  const resolver = openTiny({ surface: 'resolver' })
  const response = await fetch(`${resolver.origin}/hello/?a=1`)
  expect([response.status, await response.json()]).toEqual([
    422,
    {
      error_code: 'validation_error',
      message: `${messageOf('validation_error')} a: is not a field of this request`,
      ...adviceFor('validation_error'),
    },
  ])
  const missing = await fetch(`${resolver.origin}/nowhere`)
  expect(await missing.json()).toEqual({
    error_code: 'not_found',
    message: messageOf('not_found'),
    ...adviceFor('not_found'),
  })
  await resolver.listener.close(100)
})

test('a raw route receives the named parameters and the complete request', async () => {
  expect((await call('POST', '/raw/a%20b/')).body).toEqual({ thing: 'a b' })
})

test('a second listener on the same port fails instead of sharing it', () => {
  const { port } = new URL(tiny.origin)
  const second = openTiny()
  expect(() => second.listener.open({ hostname: '127.0.0.1', port: Number(port) })).toThrow()
  return second.listener.close(100)
})

test('closing completes a running request and accepts no new one', async () => {
  const own = openTiny()
  const goOn = Promise.withResolvers<void>()
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode('{"a":'))
      await goOn.promise
      controller.enqueue(new TextEncoder().encode('1}'))
      controller.close()
    },
  })
  const running = fetch(`${own.origin}/echo/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  await until(() => own.begun() === 1)
  const closed = own.listener.close(5000)
  goOn.resolve()
  expect(await (await running).json()).toEqual({ status: 'success', data: { a: 1 } })
  await closed
  await expect(fetch(`${own.origin}/hello/`)).rejects.toThrow()
})

describe('the audit of changes', () => {
  const of = (how: string) => call('POST', `/change/${WORKSPACE}/${how}/`, { token: CALLER })
  const alone = (how: string) => call('DELETE', `/change-alone/${how}/`, { token: CALLER })
  const defect = (endpoint: string) => ({
    level: 'error',
    message: 'request failed',
    error_code: 'internal_error',
    error: 'UnrecordedChange',
    code: endpoint,
  })
  const errors = () =>
    tiny.logs.map((line) => JSON.parse(line)).filter((it) => it.level === 'error')
  const happened = () => tiny.events.filter((event) => !event.startsWith('authorise'))

  test('an audit record is stored in the transaction of its handler, with the name of the caller', async () => {
    expect((await of('recorded')).status).toBe(200)
    expect((await alone('recorded')).status).toBe(200)
    expect(happened()).toEqual(Array(2).fill(`${CALLER}@example.com project.created`))
  })

  test('a handler may report that it changed nothing', async () => {
    expect((await of('unchanged')).status).toBe(200)
    expect((await alone('unchanged')).status).toBe(200)
    expect(happened()).toEqual([])
  })

  test('a change of a workspace is announced, and a request without changes is not', async () => {
    await of('unchanged')
    await of('forgotten')
    await call('GET', `/items/${WORKSPACE}/a/`, { token: CALLER })
    expect(tiny.notices).toEqual([])
    await of('recorded')
    expect(tiny.notices).toEqual([WORKSPACE])
  })

  test.each([
    ['forgotten', of, 'tiny.change'],
    ['both', of, 'tiny.change'],
    ['forgotten', alone, 'tiny.change_alone'],
    ['both', alone, 'tiny.change_alone'],
  ])('a record that is %s fails the request and its transaction', async (how, act, endpoint) => {
    const { status, body } = await act(how)
    expect([status, body]).toEqual([500, failed('internal_error')])
    expect(errors()).toEqual([expect.objectContaining(defect(endpoint))])
    // The record may have been sent already, so it is rolled back with the change.
    expect(happened().at(-1)).toBe('rollback')
    expect(happened()).not.toContain('commit')
  })

  test.each([['outside'], ['unbound']])(
    'a handler without a grant that writes %s a recorded transaction fails',
    async (how) => {
      expect((await alone(how)).status).toBe(500)
      expect(errors()).toEqual([expect.objectContaining(defect('tiny.change_alone'))])
    },
  )
})
