// tier: all
/** Programs with stand-ins of derived credentials, behind either proxy (protocol 13.5). */
import { afterAll, describe, expect, test } from 'bun:test'
import { cannedAnswers, startProvider } from '../support/oauth/provider.ts'
import { answerOf } from '../support/upstream.ts'
import { type OpenProxy, openProxyStage } from './stage.ts'

const ID = 'id.provider.example'
const stage = await openProxyStage([ID])
const provider = await startProvider({ authority: stage.authority, host: ID })
afterAll(async () => {
  await provider.stop()
  await stage.stop()
})
const { agent, upstream } = stage
const fields = {
  token_url: provider.tokenUrl,
  client_id: provider.clientId,
  client_secret: provider.clientSecret,
}
await agent.allow(provider.host)
await agent.store('CRM', JSON.stringify(fields), { policy: { kind: 'oauth2' } })
await agent.store(
  'ROTATING',
  JSON.stringify({ ...fields, refresh_token: await provider.issueRefreshToken() }),
  { policy: { kind: 'oauth2' } },
)
upstream.on('/echo', ({ header }, wire) => {
  wire.write(answerOf(200, {}, `got ${header('authorization')} ${provider.clientSecret}`))
})

const proxies = {
  local: await stage.open('local', { standIns: true }),
  remote: await stage.open('remote', { standIns: true }),
}
const send = (proxy: OpenProxy, name: string) =>
  fetch(stage.url('/echo'), {
    proxy: proxy.url,
    tls: { ca: proxy.certificate },
    headers: { authorization: `Bearer ${proxy.standIns[name]}` },
  })
const sentToken = () =>
  upstream.received.at(-1)?.header('authorization')?.replace('Bearer ', '') ?? ''

describe.each(Object.entries(proxies))('behind the %s proxy', (_, proxy) => {
  test('a stand-in becomes the derived credential, which comes back as the stand-in', async () => {
    const answer = await send(proxy, 'CRM')
    expect(await answer.text()).toBe(`got Bearer ${proxy.standIns.CRM} ${proxy.standIns.CRM}`)
    expect(await provider.isLive(sentToken())).toBe(true)
  })

  test('many calls share one credential', async () => {
    await send(proxy, 'CRM')
    const before = provider.requests.length
    await Promise.all(Array.from({ length: 8 }, () => send(proxy, 'CRM')))
    expect(provider.requests.length).toBe(before)
  })
})

test('the local proxy rejects a root with a refresh token, and the remote one uses it', async () => {
  const refused = await send(proxies.local, 'ROTATING')
  expect(await refused.json()).toMatchObject({
    error_code: 'unusable_secret',
    message: expect.stringContaining('--remote'),
  })
  const { status } = await send(proxies.remote, 'ROTATING')
  expect(status).toBe(200)
})

test('the local proxy waits after a failure before it asks the provider again', async () => {
  await agent.store('OTHER', JSON.stringify({ ...fields, scope: 'other' }), {
    policy: { kind: 'oauth2' },
  })
  const proxy = await stage.open('local', { standIns: true })
  provider.setFault({ answer: cannedAnswers.tooMany })
  const before = provider.requests.length
  for (let call = 0; call < 3; call += 1)
    expect(await (await send(proxy, 'OTHER')).json()).toMatchObject({
      error_code: 'derivation_failed',
    })
  expect(provider.requests.length).toBe(before + 1)
  provider.clearFaults()
})
