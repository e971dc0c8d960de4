// tier: quick
/**
 * An SDK with a token as its API key follows the links in an answer. Every URL of the called host returns through the
 * resolver, and a redirect to another allowed host carries none of the first host's credentials.
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { LinkRewriter } from '../../src/outbound/answer/links_in_body.ts'
import { forwardPrefixes, proxyLinks } from '../../src/outbound/links.ts'
import { KEY, openProxyStage } from '../proxy/stage.ts'
import { answerOf, chunked } from '../support/upstream.ts'

const OTHER = 'second.upstream.example'
const stage = await openProxyStage([OTHER])
afterAll(stage.stop)
await stage.agent.allow(stage.authorityOf(OTHER))
const placed = { policy: { allowed_locations: ['header', 'query', 'path', 'json'] as const } }
await stage.agent.store('PLACED', 'a-value-for-any-place', placed as never)
const local = await stage.open('local')
const remote = await stage.open('remote')
const own = stage.authorityOf()
const other = stage.authorityOf(OTHER)

type Sent = Record<string, string>
const token = { 'x-service-token': stage.agent.token }
const routes: [name: string, base: string, program: Sent][] = [
  ...forwardPrefixes.map((prefix): [string, string, Sent] => [
    prefix,
    `${stage.app.resolver}${prefix.slice(0, -1)}`,
    token,
  ]),
  ['the base URL of a local proxy', local.baseUrl, {}],
  ['the base URL of a remote proxy', remote.baseUrl, {}],
]

const JSON_TYPE = { 'content-type': 'application/json' }
const receivedHeaders = () => {
  const { headers = [] } = stage.upstream.received.at(-1) ?? {}
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]))
}

describe.each(routes)('%s', (_, base, program) => {
  const send = (path: string, { headers = {}, ...init }: RequestInit & { headers?: Sent } = {}) =>
    fetch(`${base}/${path}`, { redirect: 'manual', ...init, headers: { ...program, ...headers } })

  test("the endpoint in an SSE stream's first event returns through the resolver", async () => {
    const events = (data: string) => `event: endpoint\ndata: ${data}\n\n`
    for (const data of ['/messages?s=1', `https://${own}/messages?s=1`]) {
      stage.upstream.on(
        '/sse',
        answerOf(200, { 'content-type': 'text/event-stream' }, events(data)),
      )
      const [, link = ''] = /^data: (.*)$/m.exec(await (await send(`${own}/sse`)).text()) ?? []
      expect(new URL(link, base).href).toBe(`${base}/${own}/messages?s=1`)
    }
  })

  test.each(['whole', 'in pieces'])(
    'an own address that an API repeats, %s, is marked as a link from that API',
    async (how) => {
      const literal = `${base}/${other}/file`
      const escaped = literal.replaceAll('/', '\\u002f')
      const body = `{"next":"${literal}","escaped":"${escaped}","own":"${base}/${own}/x","text":"see ${literal}"}`
      const headers = { ...JSON_TYPE, 'operation-location': literal }
      stage.upstream.on(
        '/own',
        how === 'whole'
          ? answerOf(200, headers, body)
          : Buffer.concat([
              Buffer.from(
                `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\noperation-location: ${literal}\r\ntransfer-encoding: chunked\r\n\r\n`,
              ),
              chunked([body.slice(0, 20), body.slice(20, 120), body.slice(120)]),
            ]),
      )
      const answer = await send(`${own}/own`)
      const marked = `${base}/~from=${own}/${other}/file`
      expect(answer.headers.get('operation-location')).toBe(marked)
      expect(await answer.json()).toEqual({
        next: marked,
        escaped: marked,
        own: `${base}/${own}/x`,
        text: `see ${literal}`,
      })
    },
  )

  test('every header that is a URL of the called host returns through the resolver', async () => {
    const url = `https://${own}/batches/1?a=b`
    const given = {
      'operation-location': url,
      'azure-asyncoperation': url,
      'x-results-url': url
        .replace('/batches', ':443/batches')
        .replace(/:\d+:443/, own.replace(/^[^:]*/, '')),
      'www-authenticate': `Bearer realm="https://elsewhere.example/token", resource_metadata="${url}"`,
      'x-elsewhere': 'https://elsewhere.example/x',
      'x-text': `see ${url}`,
      'access-control-allow-origin': `https://${own}`,
    }
    stage.upstream.on('/headers', answerOf(200, given))
    const { headers } = await send(`${own}/headers`)
    const back = `${base}/${own}/batches/1?a=b`
    expect(Object.fromEntries([...headers].filter(([name]) => name in given))).toEqual({
      ...given,
      'operation-location': back,
      'azure-asyncoperation': back,
      'x-results-url': back,
      'www-authenticate': given['www-authenticate'].replace(url, back),
    })
  })

  test.each([
    ['application/json', (text: string) => text],
    ['application/problem+json', (text: string) => text],
    ['application/x-ndjson', (text: string) => `${text}\n${text}\n`],
    ['text/event-stream', (text: string) => `data: ${text}\n\n`],
  ])('JSON strings of %s return through the resolver', async (type, written) => {
    const body = (origin: string) =>
      written(
        JSON.stringify({
          results_url: `${origin}/v1/results`,
          origin,
          query: [`${origin}?a=1`],
          template: `${origin}/users{/name}`,
          text: `see https://${own}/x`,
          spaced: `https://${own}/x y`,
          quoted: `"https://${own}/x"`,
          elsewhere: 'https://elsewhere.example/x',
          longer: `https://${own}.evil.example/`,
          umlaut: 'ä€😀',
        }),
      )
    const sent = body(`https://${own}`)
    stage.upstream.on('/body', answerOf(200, { 'content-type': type }, sent))
    const answer = await send(`${own}/body`)
    expect(await answer.text()).toBe(body(`${base}/${own}`))
    const escaped = sent.replaceAll('/', '\\/')
    stage.upstream.on('/body', answerOf(200, { 'content-type': type }, escaped))
    expect((await (await send(`${own}/body`)).text()).replaceAll('\\/', '/')).toBe(
      body(`${base}/${own}`),
    )
  })

  test("a redirect to another host returns through the resolver without the first host's credentials", async () => {
    stage.upstream.on('/moved', answerOf(307, { location: `https://${other}/file?key=${KEY}` }))
    const moved = await send(`${own}/moved`, { method: 'POST' })
    const location = new URL(moved.headers.get('location') ?? '', `${base}/`)
    expect(location.href).toBe(`${base}/~from=${own}/${other}/file?key=SVC_SECRET_KEY`)

    stage.upstream.on(
      '/file',
      answerOf(302, { ...JSON_TYPE, location: '/next' }, `["https://${other}/a"]`),
    )
    const followed = await send(`~from=${own}/${other}/file?key=SVC_SECRET_PLACED`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer SVC_SECRET_KEY',
        'x-api-key': 'SVC_SECRET_PLACED',
        'x-basic': 'kept',
        cookie: 'session=1',
        ...JSON_TYPE,
      },
      body: '{"key":"SVC_SECRET_PLACED"}',
    })
    expect(followed.status).toBe(302)
    const { path, body } = stage.upstream.received.at(-1) ?? {}
    expect([path, Buffer.from(body ?? []).toString()]).toEqual([
      '/file?key=SVC_SECRET_PLACED',
      '{"key":"SVC_SECRET_PLACED"}',
    ])
    const { authorization, cookie, ...headers } = receivedHeaders()
    expect({
      authorization,
      cookie,
      'x-api-key': headers['x-api-key'],
      'x-basic': headers['x-basic'],
    }).toEqual({
      authorization: undefined,
      cookie: undefined,
      'x-api-key': undefined,
      'x-basic': 'kept',
    } as never)
    // The next redirect's target is still not the first host's.
    const next = new URL(followed.headers.get('location') ?? '', `${base}/`)
    expect(next.href).toBe(`${base}/~from=${own}/${other}/next`)
    expect(await followed.json()).toEqual([`${base}/~from=${own}/${other}/a`])
  })

  test('a redirect to a host that is not allowed is rejected', async () => {
    const answer = await send(`~from=${own}/not.allowed.example/x`)
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      { error_code: 'domain_blocked' },
    ])
  })
})

test('forward mode does not change links with X-Service-Rewrite: none', async () => {
  const url = `https://${own}/x`
  const given = { ...JSON_TYPE, location: url, 'operation-location': url }
  stage.upstream.on('/none', answerOf(201, given, JSON.stringify([url])))
  const answer = await fetch(`${stage.app.resolver}/v1/forward/${own}/none`, {
    headers: { ...token, 'x-service-rewrite': 'none' },
  })
  expect([answer.headers.get('location'), answer.headers.get('operation-location')]).toEqual([
    url,
    url,
  ])
  expect(await answer.json()).toEqual([url])
})

test('links are rewritten wherever the pieces of a body are split', () => {
  const base = proxyLinks('https://r.example/b', null)
  const text =
    '["https://h.example/a","\\"https://h.example/no","https:\\/\\/h.example","\\\\","https:/'
  const expected = text
    .replace('"https://h.example/a', '"https://r.example/b/h.example/a')
    .replace('"https:\\/\\/h.example"', '"https://r.example/b/h.example"')
  for (let size = 1; size <= text.length; size += 1) {
    const rewriter = new LinkRewriter('h.example', base)
    const pieces: Uint8Array[] = []
    for (let at = 0; at < text.length; at += size) {
      pieces.push(rewriter.push(Buffer.from(text.slice(at, at + size))))
    }
    expect(Buffer.concat([...pieces, rewriter.flush()]).toString()).toBe(expected)
  }
})
