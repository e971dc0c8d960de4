// tier: quick
/**
 * An echo of Basic credentials keeps the user name and stays base64: a program that stores a bare placeholder, and
 * sends it later, would send the raw value instead of credentials.
 */
import { afterAll, expect, test } from 'bun:test'
import { openProxyStage } from '../proxy/stage.ts'
import { marked } from '../support/canary.ts'
import { forwardAs, streamAs } from '../support/forward.ts'
import { answerOf } from '../support/upstream.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const SECRET = marked('client+%/=secret')
await stage.agent.store('OAUTH', SECRET, { policy: { basic_encoding: 'form' } })
const proxies = [await stage.open('local'), await stage.open('remote')]
stage.upstream.on('/echo', ({ header }, wire) => {
  const sent = header('authorization') ?? ''
  wire.write(answerOf(200, { 'x-echo': sent }, JSON.stringify({ authorization: sent })))
})

type Echo = { header: string | null; body: string }
const echoIn = async (answer: Response): Promise<Echo> => ({
  header: answer.headers.get('x-echo'),
  body: await answer.text(),
})
const ways: [name: string, send: (authorization: string) => Promise<Echo>][] = [
  [
    'a call in JSON',
    async (authorization) => {
      const call = { target_url: stage.url('/echo'), headers: { authorization } }
      const { body } = await stage.agent.resolve(call)
      const { headers, body: text } = body as { headers: Record<string, string>; body: string }
      return { header: headers['x-echo'] ?? null, body: text }
    },
  ],
  [
    'a streamed call',
    async (authorization) =>
      echoIn(
        await streamAs(stage, stage.agent, {
          target_url: stage.url('/echo'),
          headers: { authorization },
        }),
      ),
  ],
  [
    'forward mode',
    async (authorization) =>
      echoIn(await forwardAs(stage, stage.agent, '/echo', { headers: { authorization } })),
  ],
  ...proxies.map((proxy, at): (typeof ways)[number] => [
    at === 0 ? 'the local proxy' : 'the remote proxy',
    async (authorization) =>
      echoIn(
        await fetch(`${proxy.baseUrl}/${stage.authorityOf()}/echo`, { headers: { authorization } }),
      ),
  ]),
]

test.each(ways)('%s returns an echo of Basic credentials in their sent form', async (_, send) => {
  for (const user of ['ada', 'SVC_SECRET_KEY', '']) {
    const authorization = `Basic ${btoa(`${user}:SVC_SECRET_OAUTH`)}`
    const { header, body } = await send(authorization)
    expect({ header, body }).toEqual({
      header: authorization,
      body: JSON.stringify({ authorization }),
    })
    const received = stage.upstream.received.at(-1)?.header('authorization') ?? ''
    const password = atob(received.slice('Basic '.length)).split(':')[1] ?? ''
    expect([password, decodeURIComponent(password)]).toEqual([encodeURIComponent(SECRET), SECRET])
  }
})
