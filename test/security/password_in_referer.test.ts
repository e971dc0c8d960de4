// tier: quick
/**
 * In base-URL mode the proxy's password is in the URL, and programs repeat URLs in Referer: neither an allowed host
 * nor one that is reached over http receives it.
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { openProxyStage } from '../proxy/stage.ts'
import { sendRaw } from '../support/raw_http.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const http = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ headers }) => Response.json(Object.fromEntries(headers)),
})
afterAll(() => http.stop(true))

type Sent = Record<string, string>

describe.each(['local', 'remote'] as const)('the %s way', async (way) => {
  const proxy = await stage.open(way)
  const password = new URL(proxy.url).password
  const page = `${proxy.baseUrl}/${stage.authorityOf()}/page?a=1`

  const throughBaseUrl = async (headers: Sent) => {
    const answer = await fetch(`${proxy.baseUrl}/${stage.authorityOf()}/x`, { headers })
    expect(answer.status).toBe(200)
    return stage.upstream.received.at(-1)?.headers ?? []
  }
  const throughHttp = async (headers: Sent) => {
    const { text } = await sendRaw(
      proxy.baseUrl,
      [
        `GET ${http.url.href} HTTP/1.1`,
        `Host: ${http.url.host}`,
        `Proxy-Authorization: Basic ${btoa(`cloakroom:${password}`)}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        'Connection: close',
        '',
        '',
      ].join('\r\n'),
    )
    return Object.entries(JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)))
  }

  const lower = (headers: unknown[]) =>
    Object.fromEntries(
      (headers as [string, string][]).map(([name, value]) => [name.toLowerCase(), value]),
    )

  test.each([
    ['base-URL mode', throughBaseUrl],
    ['http', throughHttp],
  ])('%s names the real page in Referer, and no request contains the password', async (_, send) => {
    const got = lower(
      await send({
        Referer: page,
        'X-From': page,
        Origin: `http://${password}.example`,
        'X-Ok': '1',
      }),
    )
    expect(JSON.stringify(got)).not.toContain(password)
    expect([got.referer, got['x-from'], got.origin, got['x-ok']]).toEqual([
      `https://${stage.authorityOf()}/page?a=1`,
      undefined,
      undefined,
      '1',
    ])
    const twice = lower(await send({ Referer: `${page}/${password}/x` }))
    const alone = lower(await send({ Referer: proxy.baseUrl }))
    expect([twice.referer, alone.referer]).toEqual([undefined, undefined])
  })

  test.each([
    ['base-URL mode', throughBaseUrl],
    ['http', throughHttp],
  ])('%s does not change any other Referer or Origin', async (_, send) => {
    const given = { referer: 'https://a.example/b?c=d', origin: `http://127.0.0.1:${proxy.port}` }
    expect(lower(await send(given))).toMatchObject(given)
  })
})
