// tier: all
/** Forward mode for clients without a setting for it: their base URLs, their XML, and the links that they follow. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { forwardAs } from '../support/forward.ts'
import { answerOf, chunked } from '../support/upstream.ts'

const BLOCKED = 'not.allowed.example'
const S3 = {
  type: 'aws-sigv4',
  access_key_id: 'SVC_SECRET_KEY',
  secret_access_key: 'SVC_SECRET_KEY',
  region: 'eu-central-1',
  service: 's3',
}

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage({ env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
  agent = await createAgentWithToken(stage, { secrets: { KEY: 'sk_live_0123456789abcdef' } })
})
afterAll(() => stage.stop())

/** A call by its whole path. */
const call = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${stage.app.resolver}${path}`, {
    redirect: 'manual',
    headers: { 'x-service-token': agent.token, ...headers },
  })

describe('/forward/, for SDKs that cut every /v1 out of their base URL', () => {
  test('/forward/ is the same call, and its links return through it', async () => {
    const own = stage.authorityOf()
    const { origin } = new URL(stage.app.resolver)
    const headers = { location: '/next', link: `<https://${own}/l>; rel="next"` }
    stage.upstream.on('/v1/forward/x', answerOf(201, headers))
    const answer = await call(`/forward/${own}/v1/forward/x`, {
      authorization: 'Bearer SVC_SECRET_KEY',
    })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toBe(`/forward/${own}/next`)
    expect(answer.headers.get('link')).toBe(`<${origin}/forward/${own}/l>; rel="next"`)
    expect(stage.upstream.received.at(-1)?.path).toBe('/v1/forward/x')
  })

  test('the links of /forward/ are https behind a trusted proxy that reports it', async () => {
    const own = stage.authorityOf()
    const secure = new URL(stage.app.resolver).origin.replace('http:', 'https:')
    stage.upstream.on('/s', answerOf(200, { link: `<https://${own}/l>; rel="next"` }))
    const answer = await call(`/forward/${own}/s`, { 'x-forwarded-proto': 'https' })
    expect(answer.headers.get('link')).toBe(`<${secure}/forward/${own}/l>; rel="next"`)
    const type = { 'content-type': 'application/json' }
    stage.upstream.on('/b', answerOf(200, type, JSON.stringify([`https://${own}/l`])))
    const more = { 'x-forwarded-proto': 'https', 'x-service-rewrite': 'body' }
    const body = await call(`/forward/${own}/b`, more)
    expect(await body.json()).toEqual([`${secure}/forward/${own}/l`])
  })

  test('/forward/ has the same checks', async () => {
    const { status } = await fetch(`${stage.app.resolver}/forward/${stage.authorityOf()}/x`)
    expect(status).toBe(401)
    expect((await call(`/forward/${BLOCKED}/x`)).status).toBe(403)
  })
})

describe('X-Service-Error', () => {
  test('/forward/ names the code of every error', async () => {
    const refusals = [
      [await call(`/v1/forward/${BLOCKED}/x`), 'domain_blocked'],
      [await fetch(`${stage.app.resolver}/v1/resolve`, { method: 'POST' }), 'invalid_token'],
      [await fetch(`${stage.app.resolver}/nowhere`), 'not_found'],
      [await fetch(`${stage.app.controlPlane}/api/projects/`), 'invalid_token'],
    ] as const
    for (const [response, code] of refusals) {
      expect(response.headers.get('x-service-error')).toBe(code)
      expect(await response.json()).toMatchObject({ error_code: code })
    }
  })

  test("an upstream's answer is never mistaken for one of the resolver", async () => {
    const forged = { 'x-service-error': 'domain_blocked', 'x-service-request-id': 'forged' }
    stage.upstream.on('/forged', answerOf(403, forged))
    const answer = await forwardAs(stage, agent, '/forged')
    expect(answer.status).toBe(403)
    expect(answer.headers.get('x-service-error')).toBeNull()
    expect(answer.headers.get('x-service-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

test('an error is XML if the call is signed for S3, whose clients read nothing else', async () => {
  const refused = await call(`/v1/forward/${BLOCKED}/bucket/key`, {
    'x-service-sign': JSON.stringify(S3),
  })
  expect(refused.status).toBe(403)
  expect(refused.headers.get('content-type')).toBe('application/xml')
  expect(refused.headers.get('x-service-error')).toBe('domain_blocked')
  const xml = await refused.text()
  expect(xml).toStartWith(
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>domain_blocked</Code>',
  )
  expect(xml).toContain(`<RequestId>${refused.headers.get('x-request-id')}</RequestId></Error>`)
  const other = { ...S3, service: 'execute-api' }
  const json = await call(`/v1/forward/${BLOCKED}/x`, { 'x-service-sign': JSON.stringify(other) })
  expect(await json.json()).toMatchObject({ error_code: 'domain_blocked' })
})

describe('X-Service-Rewrite: body', () => {
  const rewrite = { 'x-service-rewrite': 'body' }
  const base = () => `${new URL(stage.app.resolver).origin}/v1/forward/${stage.authorityOf()}`

  test('X-Service-Rewrite: body rewrites links of a JSON body to the called host to forward mode', async () => {
    const own = `https://${stage.authorityOf()}`
    const body = {
      url: `${own}/repos/1`,
      template: `${own}/users{/name}`,
      other: 'https://elsewhere.example/x',
      text: `see ${own}/x`,
      umlaut: 'ä€😀',
    }
    const rewritten = { ...body, url: `${base()}/repos/1`, template: `${base()}/users{/name}` }
    const type = { 'content-type': 'application/json; charset=utf-8' }
    stage.upstream.on('/json', answerOf(200, type, JSON.stringify(body)))
    const plain = await forwardAs(stage, agent, '/json', {
      headers: { 'x-service-rewrite': 'none' },
    })
    expect(await plain.json()).toEqual(body)
    const answer = await forwardAs(stage, agent, '/json', { headers: rewrite })
    expect(await answer.json()).toEqual(rewritten)
    const escaped = JSON.stringify(body).replaceAll('/', '\\/')
    stage.upstream.on('/escaped', answerOf(200, type, escaped))
    const php = await forwardAs(stage, agent, '/escaped', { headers: rewrite })
    expect(await php.json()).toEqual(rewritten)
  })

  test('a body is rewritten wherever its pieces are split', async () => {
    const link = `"https://${stage.authorityOf()}/a"`
    const head = Buffer.from(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    for (let cut = 1; cut < link.length; cut += 1) {
      const pieces = [`[${link.slice(0, cut)}`, `${link.slice(cut)},"https:/`, '/","h"]']
      stage.upstream.on('/pieces', Buffer.concat([head, chunked(pieces)]))
      const answer = await forwardAs(stage, agent, '/pieces', { headers: rewrite })
      expect(await answer.json()).toEqual([`${base()}/a`, 'https://', 'h'])
    }
  })

  test('a body that is not JSON is unchanged, and another value of the header is 422', async () => {
    const text = `"https://${stage.authorityOf()}/a"`
    stage.upstream.on('/text', answerOf(200, { 'content-type': 'text/plain' }, text))
    const answer = await forwardAs(stage, agent, '/text', { headers: rewrite })
    expect(await answer.text()).toBe(text)
    const wrong = { 'x-service-rewrite': 'headers' }
    expect((await forwardAs(stage, agent, '/text', { headers: wrong })).status).toBe(422)
  })
})
