// tier: quick
/**
 * Forward mode and the local proxy's base URLs serve programs only: no link and no page makes a browser use
 * credentials there, no cookie of the console is sent on, and no answer acts in the address's origin.
 */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { forwardPrefixes } from '../../src/outbound/links.ts'
import { openProxyStage } from '../proxy/stage.ts'
import { answerOf } from '../support/upstream.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const { token } = stage.agent
const local = await stage.open('local')
const remote = await stage.open('remote')

const BASIC = { authorization: `Basic ${btoa(`${token}.SVC_SECRET_KEY:`)}` }
const PAGE = {
  'content-type': 'text/html',
  'content-security-policy': 'default-src *; report-uri https://evil.example',
  'reporting-endpoints': 'a="https://evil.example"',
  'set-cookie': '__Host-cloakroom-access=forged; Path=/; Secure',
}
beforeEach(() => {
  stage.upstream.received.length = 0
  stage.upstream.on('/page', answerOf(200, PAGE, '<script>alert(1)</script>'))
})

type Sent = Record<string, string>
/** Each entry point other than CONNECT, with a program's authentication. */
const routes: [name: string, url: string, program: Sent][] = [
  ...forwardPrefixes.map((prefix): [string, string, Sent] => [
    prefix,
    `${stage.app.resolver}${prefix}${stage.authorityOf()}`,
    { 'x-service-token': token },
  ]),
  ['the base URL of a local proxy', `${local.baseUrl}/${stage.authorityOf()}`, {}],
  ['the base URL of a remote proxy', `${remote.baseUrl}/${stage.authorityOf()}`, {}],
]

const EMBEDDINGS =
  'audio document embed fencedframe font frame iframe image manifest object report script serviceworker sharedworker style track video worker xslt'
const refused: [what: string, headers: Sent][] = [
  [
    'a link',
    { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' },
  ],
  ['a nested navigation', { 'sec-fetch-mode': 'nested-navigate' }],
  ['a navigation in capitals', { 'sec-fetch-mode': 'NAVIGATE' }],
  ['a link of the same origin', { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'same-origin' }],
]
const withoutToken: [what: string, headers: Sent][] = [
  ['no token', {}],
  ['Basic', BASIC],
  ['a cookie that holds a token', { cookie: `a=${token}` }],
]

describe.each(routes)('%s', (_, base, program) => {
  const sent = (headers: Sent) => fetch(`${base}/page`, { headers, redirect: 'manual' })

  test.each(refused)('%s is rejected', async (_, headers) => {
    const answer = await sent({ ...program, ...headers })
    expect([answer.status, await answer.json()]).toMatchObject([403, { error_code: 'forbidden' }])
    expect(stage.upstream.received).toEqual([])
  })

  test('every way to embed the address is rejected', async () => {
    for (const destination of EMBEDDINGS.split(' ')) {
      const answer = await sent({ ...program, 'sec-fetch-dest': destination })
      expect([destination, answer.status]).toEqual([destination, 403])
    }
    expect(stage.upstream.received).toEqual([])
  })

  test.each(withoutToken)("another site's request with %s is rejected", async (_, headers) => {
    const answer = await sent({
      'sec-fetch-mode': 'cors',
      'sec-fetch-site': 'cross-site',
      ...headers,
    })
    expect([answer.status, await answer.json()]).toMatchObject([403, { error_code: 'forbidden' }])
    expect(answer.headers.get('www-authenticate')).toBeNull()
    expect(stage.upstream.received).toEqual([])
  })

  test("a program's requests are served, also those of a runtime that marks them as cors", async () => {
    for (const headers of [{}, { 'sec-fetch-mode': 'cors' }, { 'sec-fetch-dest': 'empty' }]) {
      expect((await sent({ ...program, ...headers })).status).toBe(200)
    }
  })

  test('answers are sandboxed, with no reporting, and no cookie of either side', async () => {
    const cookie = '__Host-cloakroom-access=a; theirs=1; __host-Cloakroom-refresh-8899=b'
    const answer = await sent({ ...program, cookie })
    expect(answer.headers.get('content-security-policy')).toBe('sandbox')
    expect(answer.headers.get('reporting-endpoints')).toBeNull()
    expect(answer.headers.getSetCookie()).toEqual([])
    await sent({ ...program, cookie: '__Host-cloakroom-access=a' })
    const cookies = stage.upstream.received.map(({ headers }) =>
      headers.filter(([name]) => name.toLowerCase() === 'cookie').map(([, value]) => value),
    )
    expect(cookies).toEqual([['theirs=1'], []])
    const refusal = await sent({ ...program, 'sec-fetch-mode': 'navigate' })
    expect(refusal.headers.get('content-security-policy')).toBe('sandbox')
  })
})

test("forward mode serves another site's page that sends a token itself", async () => {
  const headers = { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'cross-site' }
  for (const own of [{ 'x-service-token': token }, { authorization: `Bearer ${token}` }]) {
    const answer = await fetch(`${stage.app.resolver}/v1/forward/${stage.authorityOf()}/page`, {
      headers: { ...headers, ...own },
    })
    expect(answer.status).toBe(200)
  }
})

test.each([
  ['local', local],
  ['remote', remote],
] as const)(
  'a browser that the %s proxy serves under real names opens pages as usual',
  async (_, proxy) => {
    const answer = await fetch(`https://${stage.authorityOf()}/page`, {
      headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      proxy: proxy.url,
      tls: { ca: proxy.certificate },
    })
    expect([answer.status, answer.headers.get('content-security-policy')]).toEqual([
      200,
      PAGE['content-security-policy'],
    ])
  },
)
