// tier: quick
/**
 * A placeholder in a place that its secret's policy does not permit is sent as text, and an echo of it looks like
 * success: every way of calling names it, and on request rejects it before the call is sent.
 */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Unfilled } from '../../src/core/policy/unfilled.ts'
import { findEscaped } from '../../src/outbound/escaped_placeholders.ts'
import { unfilledOf } from '../../src/outbound/injection/unfilled.ts'
import { withUnfilledNotices } from '../../src/proxy/unfilled_notice.ts'
import { openProxyStage } from '../proxy/stage.ts'
import { forwardAs } from '../support/forward.ts'
import { until } from '../support/until.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const local = await stage.open('local')
const remote = await stage.open('remote')
beforeEach(() => {
  stage.upstream.received.length = 0
})

type Sent = { path?: string; method?: string; headers?: Record<string, string>; body?: string }
const NAME = 'SVC_SECRET_KEY'
const TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain',
}
const withBody = (type: string, body: string): Sent => ({
  method: 'POST',
  headers: { 'content-type': type },
  body,
})

const places: [place: Unfilled['place'], sent: Sent][] = [
  ['query', { path: `/x?key=${NAME}` }],
  ['path', { path: `/x/${NAME}/y` }],
  ['json', withBody(TYPES.json, JSON.stringify({ key: NAME }))],
  ['json', withBody(TYPES.json, `{"key":"${NAME}"`)],
  ['form', withBody(TYPES.form, `key=${NAME}&other=SVC_SECRET_NONE`)],
]

/** Types of bodies that are sent on as they arrive. */
const streamed = ['application/x-ndjson', 'application/octet-stream', 'text/csv']

/** Escaped forms, which an API reads as the placeholder. */
const escaped: [place: Unfilled['place'], sent: Sent][] = [
  ['query', { path: '/x?key=SVC%5FSECRET_KEY' }],
  ['query', { path: '/x?key=SVC%255fSECRET_KEY' }],
  ['query', { path: '/x?key=SVC_SECRET_K%45Y' }],
  ['path', { path: '/x/%53VC_SECRET_KEY/y' }],
  ['json', withBody(TYPES.json, '{"key":"SVC\\u005fSECRET_KEY"}')],
  ['json', withBody(TYPES.json, '{"in":"{\\"key\\":\\"SVC\\\\u005FSECRET_KE\\\\u0059\\"}"}')],
  ['json', withBody(TYPES.json, '["/x?key=SVC%5FSECRET%5fKEY"]')],
  ['form', withBody(TYPES.form, 'key=SVC%5FSECRET%5FKEY')],
]

type Source = 'client' | 'resolver'
const ways: [name: string, send: (sent: Sent) => Promise<Response>, recordedBy: Source][] = [
  [
    'forward mode',
    ({ path = '/x', ...init }) => forwardAs(stage, stage.agent, path, init),
    'resolver',
  ],
  ...([local, remote] as const).map((proxy): (typeof ways)[number] => [
    proxy === local ? 'the local proxy' : 'the remote proxy',
    ({ path = '/x', ...init }) => fetch(`${proxy.baseUrl}/${stage.authorityOf()}${path}`, init),
    proxy === local ? 'client' : 'resolver',
  ]),
]

describe.each(ways)('%s', (_, send, recordedBy) => {
  test.each(places)('an answer names a placeholder that stays text in %s', async (place, sent) => {
    const answer = await send(sent)
    expect([answer.status, answer.headers.get('x-service-unfilled')]).toEqual([200, `KEY;${place}`])
    const { path, body } = stage.upstream.received.at(-1) ?? {}
    expect(`${path}${Buffer.from(body ?? [])}`).toContain(NAME)
  })

  test.each(places)('a strict call rejects a placeholder in %s', async (_, sent) => {
    const headers = { ...sent.headers, 'x-service-strict-placeholders': 'true' }
    const answer = await send({ ...sent, headers })
    const { error_code, message } = (await answer.json()) as { error_code: string; message: string }
    expect([answer.status, error_code]).toEqual([422, 'placeholder_not_allowed'])
    expect(message).toContain('cloakroom policy set KEY --locations')
    expect(stage.upstream.received).toEqual([])
  })

  test.each(escaped)(
    'an answer names an escaped placeholder in %s, and a strict call rejects it',
    async (place, sent) => {
      const answer = await send(sent)
      expect([answer.status, answer.headers.get('x-service-unfilled')]).toEqual([
        200,
        `KEY;${place}`,
      ])
      const headers = { ...sent.headers, 'x-service-strict-placeholders': 'true' }
      const refused = await send({ ...sent, headers })
      const { error_code, message, fix } = (await refused.json()) as Record<string, string>
      expect([refused.status, error_code, fix]).toEqual([422, 'placeholder_not_allowed', undefined])
      expect(message).toContain('it is escaped. Write it without escapes.')
      expect(stage.upstream.received).toHaveLength(1)
    },
  )

  test.each(streamed)(
    'a strict call rejects a placeholder in a body of type %s that would stream',
    async (type) => {
      const strict = { 'content-type': type, 'x-service-strict-placeholders': 'true' }
      const pieces = ['{"key":"SVC_', 'SECRET_KEY"}']
      const piecesOf = () => new Blob(pieces).stream()
      const sent = (body: BodyInit, headers = strict) =>
        send({ method: 'POST', headers, body } as Sent)
      for (const body of [piecesOf(), pieces.join('')]) {
        const refused = await sent(body)
        const { error_code } = (await refused.json()) as { error_code: string }
        expect([refused.status, error_code]).toEqual([422, 'placeholder_not_allowed'])
      }
      expect(stage.upstream.received).toEqual([])
      expect((await sent('key=SVC_SECRET_NONE')).status).toBe(200)
      expect(
        (await sent(piecesOf(), { ...strict, 'x-service-strict-placeholders': 'false' })).status,
      ).toBe(200)
      expect(stage.upstream.received).toHaveLength(2)
    },
  )

  test.each([false, true])(
    'remaining placeholders are recorded, rejected: %p',
    async (isStrict) => {
      const strict = isStrict ? { 'x-service-strict-placeholders': 'true' } : {}
      const clean = { headers: { authorization: `Bearer ${NAME}` } }
      const ids: (string | null)[] = []
      for (const sent of [...places.map(([, one]) => one), clean]) {
        const answer = await send({ ...sent, headers: { ...sent.headers, ...strict } })
        await answer.arrayBuffer()
        ids.push(answer.headers.get('x-service-request-id') ?? answer.headers.get('x-request-id'))
      }
      const written = await until(async () => {
        await stage.app.flushAudit()
        const records = await stage.records(recordedBy)
        const found = ids.flatMap(
          (id) => records.find((record) => record.id === id || record.client_id === id) ?? [],
        )
        return found.length === ids.length && found
      })
      const status = isStrict ? 422 : 200
      expect(written.map(({ unfilled, status_code }) => [unfilled, status_code])).toEqual([
        ...places.map(([place]) => [[{ name: 'KEY', place }], status]),
        [null, 200],
      ])
    },
  )

  test('an answer names nothing if all placeholders count, and no text without a secret', async () => {
    const headers = { authorization: `Bearer ${NAME}` }
    for (const sent of [{ headers }, withBody(TYPES.json, '["SVC_SECRET_NONE"]')]) {
      expect((await send(sent)).headers.get('x-service-unfilled')).toBeNull()
    }
  })
})

describe('a call in JSON', () => {
  const resolve = ({ path = '/x', ...call }: Sent, more = {}) =>
    stage.agent.resolve({ target_url: stage.url(path), ...call, ...more })
  const inText: (typeof places)[number] = ['body', withBody(TYPES.text, `key=${NAME}`)]

  test.each([...places, inText])(
    'a JSON call names a placeholder that stays text in %s',
    async (place, sent) => {
      const answer = await resolve(sent)
      expect(answer.body).toMatchObject({ unfilled: [{ name: 'KEY', place }] })
      const refused = await resolve(sent, { strict_placeholders: true })
      expect([refused.status, refused.body]).toMatchObject([
        422,
        { error_code: 'placeholder_not_allowed' },
      ])
      const locations = `header,basic,env,${place}`
      const command = ['cloakroom', 'policy', 'set', 'KEY', '--locations', locations]
      expect((refused.body as { fix?: unknown }).fix).toEqual(
        place === 'body' ? undefined : { command },
      )
      expect(stage.upstream.received).toHaveLength(1)
    },
  )

  test('a JSON call has no such field if all placeholders count', async () => {
    const answer = await resolve({ headers: { 'x-key': NAME } })
    expect(answer.body).not.toHaveProperty('unfilled')
  })
})

test('a long body is searched for escaped placeholders in a strict call', () => {
  const body = Buffer.from(`["${'x'.repeat(1_048_576)}","SVC%5FSECRET_KEY"]`)
  const target = { path: '/', search: '' }
  const found = (isStrict: boolean) =>
    findEscaped(target, body, { contentType: TYPES.json, isStrict })
  expect(found(false)).toEqual([])
  expect(found(true)).toEqual([{ name: 'KEY', place: 'json', isEscaped: true }])
})

test('a record names at most 16 places', async () => {
  const texts = ['query', 'path', 'json', 'form', 'body'].flatMap((place) =>
    Array.from({ length: 16 }, (_, at) => ({ name: `KEY_${at}`, place }) as never),
  )
  const secrets = (names: readonly string[]) =>
    names.map((name) => ({ name, policy: null }) as never)
  expect(unfilledOf(texts, { secrets } as never)).toHaveLength(16)
})

test('the local proxy prints each remaining placeholder once on the terminal', async () => {
  const notices: string[] = []
  const answer = () => new Response('', { headers: { 'x-service-unfilled': 'KEY;query, B;json' } })
  const backend = withUnfilledNotices(
    { execute: async () => answer() } as never,
    (text) => void notices.push(text),
  )
  for (let call = 0; call < 2; call += 1) await backend.execute({} as never)
  expect(notices).toEqual([
    expect.stringContaining('Add query to the locations that `cloakroom policy show KEY` lists.'),
    expect.stringContaining('SVC_SECRET_B in the JSON body is not replaced'),
  ])
})

test('an answer names the Set-Cookie that was dropped', async () => {
  stage.upstream.on(
    '/cookie',
    Buffer.from('HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 2\r\n\r\nok'),
  )
  const forwarded = await forwardAs(stage, stage.agent, '/cookie')
  expect(forwarded.headers.get('x-service-dropped')).toBe('set-cookie')
  const resolved = await stage.agent.resolve({ target_url: stage.url('/cookie') })
  expect(resolved.body).toMatchObject({ dropped_headers: ['set-cookie'] })
})
