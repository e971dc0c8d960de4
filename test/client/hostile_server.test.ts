// tier: quick
/** A foreign or hostile server costs a client neither its memory nor its time. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { download } from '../../src/client/http/answer.ts'
import { AnswerError, ApiError, openApi } from '../../src/client/http/api.ts'
import { getMe } from '../../src/features/accounts/contract.ts'
import { listAllowlist } from '../../src/features/allowlist/contract.ts'
import { exportAudit, listAuditLogs } from '../../src/features/audit/contract.ts'
import { deleteSecret } from '../../src/features/secrets/contract.ts'
import { listCredentials, resolveCall } from '../../src/resolver/contract.ts'

const MIB = 1_048_576
const PIECE = Buffer.alloc(MIB, ' ')

let answer: (request: Request) => Response
let sent = 0
let asked = 0
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  fetch: (request) => {
    asked += 1
    return answer(request)
  },
})
afterAll(() => server.stop(true))
beforeEach(() => {
  sent = 0
  asked = 0
})

const origin = server.url.origin
const host = server.url.host
const api = openApi(origin)
const call = { body: { target_url: 'https://api.example/' } }

/** White space is valid JSON so far, so a parser would wait for the rest. */
function endless(status: number): Response {
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    sent += PIECE.length
    controller.enqueue(PIECE)
  }
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status })
}

function dripping(status: number): Response {
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    // Real time: the client's own deadline must end a body that never stops and never fills its limit.
    await Bun.sleep(20)
    controller.enqueue(PIECE.subarray(0, 1))
  }
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status })
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error) => error,
  )
}

test.each([
  ['what is not a list', () => api.call(getMe, {}), 16],
  ['a list', () => api.list(listAuditLogs, { query: { workspace_id: Bun.randomUUIDv7() } }), 64],
  ['a call through the resolver', () => api.call(resolveCall, call), 64],
])('an endless answer to %s is read up to its limit', async (_, work, limit) => {
  answer = () => endless(200)
  expect(await errorOf(work())).toEqual(
    new AnswerError(origin, `returned 200 with more than ${limit} MiB`),
  )
  // The rest is in buffers on the way.
  expect(sent).toBeLessThan((limit + 64) * MIB)
})

test.each([200, 500])('an answer %d that drips has a deadline', async (status) => {
  answer = () => dripping(status)
  const impatient = openApi(origin, () => null, { timeoutMs: 100 })
  expect(await errorOf(impatient.call(getMe, {}))).toEqual(
    new AnswerError(origin, 'did not respond completely within 0.1 seconds'),
  )
})

test('an answer that never begins has the same deadline', async () => {
  answer = () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))
  const impatient = openApi(origin, () => null, { timeoutMs: 100 })
  expect(await errorOf(impatient.call(getMe, {}))).toBeInstanceOf(AnswerError)
})

const entry = {
  id: Bun.randomUUIDv7(),
  domain: 'x'.repeat(1000),
  added_by_email: null,
  added_at: '2026-11-22T00:00:00.000Z',
}
const params = { params: { workspace_id: Bun.randomUUIDv7() } }
const pageOf = (entries: number, next_cursor: string | null) =>
  Response.json({
    status: 'success',
    data: Array(entries).fill(entry),
    pagination: { next_cursor },
  })

test('a list with endless pages is read up to its limit', async () => {
  answer = () => pageOf(10, `${asked}`)
  const small = openApi(origin, () => null, { listLimit: 100_000 })
  const endlessList = new AnswerError(origin, 'returns an endless list')
  expect(await errorOf(small.list(listAllowlist, params))).toEqual(endlessList)
  expect(asked).toBeLessThan(12)
  answer = () => pageOf(0, 'again')
  asked = 0
  expect(await errorOf(small.list(listAllowlist, params))).toEqual(endlessList)
  expect(asked).toBe(1)
})

test('a list of several pages is read completely', async () => {
  answer = () => pageOf(10, asked < 5 ? `${asked}` : null)
  expect(await api.list(listAllowlist, params)).toEqual(Array(50).fill(entry))
})

test('a compressed answer is not expanded', async () => {
  const bomb = Bun.gzipSync(Buffer.alloc(80 * MIB, ' '))
  answer = (request) => {
    expect(request.headers.get('accept-encoding')).toBe('identity')
    return new Response(bomb, { headers: { 'content-encoding': 'gzip' } })
  }
  expect(await errorOf(api.call(getMe, {}))).toEqual(
    new AnswerError(origin, 'returned 200, but not as a Cloakroom server'),
  )
})

test.each([
  ['no JSON', () => new Response('<html>Welcome</html>')],
  ['nothing', () => new Response('')],
  ['null', () => Response.json(null)],
  ['a number', () => Response.json(7)],
  ['a list', () => Response.json([])],
  ['no data', () => Response.json({ status: 'success' })],
  ['data of other types', () => Response.json({ status: 'success', data: { id: 7 } })],
  [
    'millions of entries',
    () => Response.json({ status: 'success', data: Array(2_000_000).fill(0) }),
  ],
])('an answer with %s is not accepted', async (_, made) => {
  answer = made
  const expected = new AnswerError(origin, 'returned 200, but not as a Cloakroom server')
  expect(await errorOf(api.call(getMe, {}))).toEqual(expected)
  expect(await errorOf(api.call(resolveCall, call))).toEqual(expected)
  expect(await errorOf(api.list(listAllowlist, params))).toEqual(expected)
  if (_ !== 'a list') expect(await errorOf(api.call(listCredentials, {}))).toEqual(expected)
})

test("another server's page does not count as a deletion", async () => {
  const gone = {
    params: { project_id: Bun.randomUUIDv7(), key: 'KEY' },
    query: { environment: 'development' },
  }
  answer = () => new Response('<html>Welcome to this network</html>')
  expect(await errorOf(api.call(deleteSecret, gone))).toBeInstanceOf(AnswerError)
  answer = () => Response.json({ status: 'success' })
  expect(await errorOf(api.call(deleteSecret, gone))).toBeNull()
})

test.each([
  ['empty', '', 500, 'gave no reason'],
  ['a page', '<html>Bad gateway</html>', 502, 'gave no reason'],
  ['null', 'null', 404, 'gave no reason'],
  ['of other types', '{"error_code":7,"message":{"a":1},"fields":"x"}', 422, 'gave no reason'],
  ['fields of other types', '{"error_code":"x","message":"y","fields":[1]}', 422, 'gave no reason'],
  ['a redirect', '', 301, 'redirects to another address, which is not followed'],
])('an error that is %s names its status and host', async (_, body, status, what) => {
  answer = () => new Response(body, { status, headers: { location: 'http://127.0.0.1:1/' } })
  const error = await errorOf(api.call(getMe, {}))
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status, message: `${host} returned ${status}, and ${what}` })
})

test('an error of the product keeps its text', async () => {
  const body = { error_code: 'not_found', message: 'Nothing.', request_id: 'r', status: 'failure' }
  answer = () => Response.json(body, { status: 404 })
  expect(await errorOf(api.call(getMe, {}))).toMatchObject({
    status: 404,
    code: 'not_found',
    message: 'Nothing.',
    requestId: 'r',
  })
})

test('a file arrives in pieces, and is rejected with another type', async () => {
  const read = async () => {
    const pieces: Uint8Array[] = []
    for await (const piece of download(exportAudit, `${origin}/x`, {})) pieces.push(piece)
    return Buffer.concat(pieces).toString()
  }
  answer = () => new Response('{"a":1}\n', { headers: { 'content-type': 'application/x-ndjson' } })
  expect(await read()).toBe('{"a":1}\n')
  answer = () => new Response('<html>', { headers: { 'content-type': 'text/html' } })
  expect(await errorOf(read())).toBeInstanceOf(AnswerError)
  answer = () => new Response('', { status: 403 })
  expect(await errorOf(read())).toMatchObject({ status: 403 })
})
