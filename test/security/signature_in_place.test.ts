// tier: quick
/**
 * A placeholder in place of a signature is a signature: however the request is changed, the key itself is never sent
 * there, the signed request is the sent one, and the answer does not show it.
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { ticketsFor } from '../../src/outbound/signing/token_answer.ts'
import { createAgentWithToken, sharedStage } from '../support/agent.ts'
import { forwardAs } from '../support/forward.ts'
import { sendRaw } from '../support/raw_http.ts'
import { answerOf } from '../support/upstream.ts'

const BLOBS = 'acct.blob.core.windows.net'
const STAMP = 'Sun, 22 Nov 2026 04:05:06 GMT'
const KEY = Buffer.from('the key of a storage account').toString('base64')

const stage = await sharedStage({ names: [BLOBS] })
afterAll(stage.stop)
const { upstream } = stage
const host = stage.authorityOf(BLOBS)
const agent = await createAgentWithToken(stage, { domains: [host, stage.authorityOf()] })
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
const ACCOUNT = JSON.stringify({
  type: 'service_account',
  client_email: 'robot@project.iam.gserviceaccount.com',
  private_key: pem,
})
await agent.store('KEY', KEY, {
  policy: { allowed_locations: ['header', 'query'], allowed_paths: ['/open', '/echo'] },
})
await agent.store('HIDDEN_KEY', KEY, { policy: { allowed_locations: ['query', 'sign'] } })
await agent.store('OTHER_HEADER', KEY, { policy: { allowed_headers: ['X-Key'] } })
await agent.store('ROBOT', ACCOUNT, { policy: { allowed_locations: ['header', 'form', 'json'] } })
upstream.on('/echo', ({ path }, wire) => {
  wire.write(answerOf(200, { 'content-type': 'text/plain' }, path))
})

const last = () => upstream.received.at(-1)
const mac = (text: string) =>
  createHmac('sha256', Buffer.from(KEY, 'base64')).update(text).digest('base64')
const call = (path: string, headers: Record<string, string> = {}, more: object = {}) =>
  agent.resolve({ target_url: stage.url(path, BLOBS), method: 'GET', headers, ...more })
const signed = { authorization: 'SharedKey acct:SVC_SECRET_KEY', 'x-ms-date': STAMP }
const access = 'sv=2022-11-02&sr=c&sp=r&se=2027-01-01&sig=SharedKey%20acct:SVC_SECRET_'

describe('the key itself', () => {
  test('the key is not sent in a query in place of its signature, although its policy permits the place', async () => {
    expect((await call(`/open/a?${access}KEY`)).status).toBe(200)
    const text = mac('r\n\n2027-01-01\n/blob/acct/open\n\n\n\n2022-11-02\nc\n\n\n\n\n\n\n')
    expect(last()?.path).toEndWith(`&sig=${encodeURIComponent(text)}`)
    expect(last()?.path).not.toContain(encodeURIComponent(KEY))
  })

  test('the key is not sent in a form in place of its signature, although its policy permits the place', async () => {
    const aud = `https://${stage.authorityOf()}/token`
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const token = `${part({ alg: 'RS256' })}.${part({ iss: 'x', aud })}.SVC_SECRET_ROBOT`
    const grant = encodeURIComponent('urn:ietf:params:oauth:grant-type:jwt-bearer')
    upstream.on(
      '/token',
      answerOf(200, { 'content-type': 'application/json' }, '{"access_token":"ya29.x"}'),
    )
    const post = (type: string, body: string) =>
      forwardAs(stage, agent, '/token', { method: 'POST', headers: { 'content-type': type }, body })
    const form = 'application/x-www-form-urlencoded'
    const answer = await post(form, `grant_type=${grant}&assertion=${token}&x=SVC_SECRET_ROBOT`)
    expect(await answer.json()).toEqual({
      access_token: expect.stringMatching(/^SVC_SECRET_ROBOT-ticket-/),
    })
    const sent = new URLSearchParams(Buffer.from(last()?.body ?? []).toString())
    expect(sent.get('assertion')).toMatch(/^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{342}$/)
    expect(sent.get('x')).toBe('SVC_SECRET_ROBOT')
    expect(decodeURIComponent(String(sent))).not.toContain('private_key')
    const arrived = upstream.received.length
    const two = await post(form, `grant_type=${grant}&assertion=${token}&assertion=${token}`)
    expect(await two.json()).toMatchObject({ error: 'validation_error' })
    expect(upstream.received.length).toBe(arrived)
  })

  test('the key signs nothing if its policy keeps it out of headers', async () => {
    for (const path of [
      `/open?${access}HIDDEN_KEY`,
      `/open?a=SVC_SECRET_HIDDEN_KEY&${access}HIDDEN_KEY`,
    ]) {
      expect((await call(path)).body).toMatchObject({ error_code: 'policy_blocked' })
    }
    for (const name of ['HIDDEN_KEY', 'OTHER_HEADER']) {
      const headers = { ...signed, authorization: `SharedKey acct:SVC_SECRET_${name}` }
      expect((await call('/open', headers)).body).toMatchObject({ error_code: 'policy_blocked' })
    }
    expect((await call(`/open?${access}OTHER_HEADER`)).body).toMatchObject({
      error_code: 'policy_blocked',
    })
  })
})

describe('the signed request', () => {
  test('the signed request is the sent one, also with repeated headers', async () => {
    const { text } = await sendRaw(
      stage.app.resolver,
      `GET /v1/forward/${host}/open/a HTTP/1.1\r\nHost: ${new URL(stage.app.resolver).host}\r\nX-Service-Token: ${agent.token}\r\nAuthorization: ${signed.authorization}\r\nx-ms-date: ${STAMP}\r\nx-ms-meta-a: one\r\nX-Ms-Meta-A: two\r\nConnection: close\r\n\r\n`,
    )
    expect(text).toStartWith('HTTP/1.1 200')
    expect(last()?.headers.filter(([name]) => /^x-ms-meta-a$/i.test(name))).toHaveLength(1)
    const sent = last()?.header('x-ms-meta-a')
    const wanted = mac(`GET${'\n'.repeat(12)}x-ms-date:${STAMP}\nx-ms-meta-a:${sent}\n/acct/open/a`)
    expect(last()?.header('authorization')).toBe(`SharedKey acct:${wanted}`)
  })

  test('the signed request is the one that its policy was checked for', async () => {
    expect((await call('/open/%7Ea', signed)).status).toBe(200)
    const arrived = upstream.received.length
    for (const path of [
      '/closed',
      '/open/../closed',
      '/open/%2e%2e/closed',
      '/open/..%2Fclosed',
      '/open%2F..%2Fclosed',
      '/open/%252e%252e/closed',
      '/opened',
    ]) {
      const refusal = { path, ...Object(await call(path, signed)).body }
      expect(refusal).toMatchObject({ path, error_code: 'policy_blocked' })
    }
    expect((await call('//open/a', signed)).body).toMatchObject({ error_code: 'invalid_target' })
    const twice = { ...signed, Authorization: 'SharedKey acct:SVC_SECRET_KEY' }
    expect((await call('/open/a', twice)).body).toMatchObject({ error_code: 'invalid_header' })
    expect(upstream.received.length).toBe(arrived)
  })

  test('the signed request is masked in an answer that repeats it, also in the form of the URL', async () => {
    const answer = await call(`/echo?${access}KEY`)
    const [, sig = ''] = /sig=(.*)$/.exec(last()?.path ?? '') ?? []
    expect(sig).toMatch(/%3D$/)
    expect(JSON.stringify(answer.body)).not.toContain(sig.slice(0, 30))
    expect(answer.body).toMatchObject({ redacted: true })
  })
})

describe('a signature that is made again', () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const aud = `https://${stage.authorityOf()}`
  const token = `${part({ alg: 'RS256' })}.${part({ iss: 'x', aud })}.SVC_SECRET_ROBOT`
  const bearing = { authorization: `Bearer ${token}` }
  const echo = async (formOf: (signature: string) => string) => {
    upstream.on('/form', ({ header }, wire) => {
      const [, , signature = ''] = header('authorization')?.split('.') ?? []
      wire.write(answerOf(200, { 'content-type': 'text/plain' }, formOf(signature)))
    })
    return await (await forwardAs(stage, agent, '/form', { headers: bearing })).text()
  }
  const raw = (signature: string) => Buffer.from(signature, 'base64url')

  test.each<[string, (signature: string) => string]>([
    ['base64url', (signature) => signature],
    ['standard base64', (signature) => raw(signature).toString('base64')],
    ['hexadecimal', (signature) => raw(signature).toString('hex')],
    [
      'hexadecimal with colons',
      (signature) => raw(signature).toString('hex').match(/../g)?.join(':') ?? '',
    ],
    ['decimal bytes', (signature) => JSON.stringify([...raw(signature)])],
    ['base64 of itself', (signature) => Buffer.from(signature).toString('base64')],
  ])('a signature that is made again is masked whole in %s', async (_, formOf) => {
    const answer = await echo((signature) => `<${formOf(signature)}>`)
    expect(answer).toContain('SVC_SECRET_ROBOT')
    expect(answer.length).toBeLessThan(60)
  })

  test.each<[string, (signature: string) => string, number]>([
    ['first 16 characters', (signature) => signature.slice(0, 16), 0],
    ['last 16 characters', (signature) => signature.slice(-16), 0],
    ['first 100 characters', (signature) => signature.slice(0, 100), 15],
    ['characters from the 100th on', (signature) => signature.slice(100), 15],
    ['halves', (signature) => `${signature.slice(0, 171)} ${signature.slice(171)}`, 30],
    [
      'first half in hexadecimal',
      (signature) => raw(signature).subarray(0, 128).toString('hex'),
      0,
    ],
  ])('a signature that is made again is masked in its %s', async (_, formOf, most) => {
    const answer = await echo((signature) => `<${formOf(signature)}>`)
    expect(answer).toContain('[REDACTED]')
    expect(answer.replaceAll('[REDACTED]', '').length).toBeLessThanOrEqual(2 + 1 + most)
  })

  test("a repeated signature's mask keeps the rest of the token and other text", async () => {
    const answer = await echo((signature) => `${token.split('.')[0]} ${signature.slice(0, 15)}`)
    expect(answer).not.toContain('[REDACTED]')
  })

  test('a signature of AWS or Azure is masked in its halves, too', async () => {
    upstream.on('/echo/halves', ({ header }, wire) => {
      const signature = header('authorization')?.split(':')[1] ?? ''
      wire.write(answerOf(200, {}, `${signature.slice(0, 20)} ${signature.slice(20)}`))
    })
    const { body } = await call('/echo/halves', signed)
    expect(body).toMatchObject({
      body: expect.stringMatching(/^\[REDACTED\].{4} .{0,15}\[REDACTED\]/),
    })
  })
})

test('the token behind a ticket is masked in its halves, too', async () => {
  const token = 'ya29.c0ASRK0GbRandomTextOfAnAccessTokenThatGoogleHandsOut0123456789'
  const made = ticketsFor('ROBOT', Buffer.from(ACCOUNT))
  const handedOut = await made(Response.json({ access_token: token }))
  const { access_token: ticket } = (await handedOut.json()) as { access_token: string }
  const bearing = { authorization: `Bearer ${ticket}` }
  for (const text of [token.slice(0, 20), token.slice(-20), token]) {
    upstream.on('/form', answerOf(200, { 'content-type': 'text/plain' }, `<${text}>`))
    const answer = await forwardAs(stage, agent, '/form', { headers: bearing })
    const masked = text === token ? '<SVC_SECRET_ROBOT>' : /^<.{0,4}\[REDACTED\].{0,4}>$/
    expect(await answer.text()).toMatch(masked)
    expect(last()?.header('authorization')).toBe(`Bearer ${token}`)
  }
})

test('the host of a connection string is not treated as a part of it, and its key is', async () => {
  const key = Buffer.from('another key of that storage account').toString('base64')
  const text = `DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=${key};EndpointSuffix=core.windows.net`
  await agent.store('CONNECTION', text)
  await agent.store(
    'BUS',
    `Endpoint=sb://namespace1.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=${key}`,
  )
  const shown = `https://acct.blob.core.windows.net/c sb://namespace1.servicebus.windows.net/ EndpointSuffix=core.windows.net`
  upstream.on('/echo/hosts', answerOf(200, {}, `${shown} ${key.slice(-20)} ${text}`))
  expect((await call('/echo/hosts')).body).toMatchObject({
    body: `${shown} [REDACTED] SVC_SECRET_CONNECTION`,
  })
})
