// tier: quick
/**
 * Case 93: what a call makes of a value, such as a part of it or its signature of a fixed template, and stores at an
 * API does not come back in the next call, which does not use it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { ticketsFor } from '../../src/outbound/signing/tickets.ts'
import {
  type Agent,
  employAgent,
  type IssuedToken,
  resolveAs,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { answerOf } from '../support/upstream.ts'

const PASSWORD = 'p@ss/word-of-db-9'
const USER = 'user4711ofdb'
const KEY = Buffer.from('the account key of storage, 32 b').toString('base64')
const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})
const ROBOT = { type: 'service_account', client_email: 'robot@project.iam.gserviceaccount.com' }
const TEMPLATE = 'eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJtZSJ9'
const HEX = 'a1b2c3d4e5f60718a1b2c3d4e5f60718'
const SECRETS = {
  DB: `postgres://${USER}:${encodeURIComponent(PASSWORD)}@db.example/main`,
  STORE: `AccountName=me;AccountKey=${KEY};EndpointSuffix=core.example`,
  ACCOUNT: JSON.stringify({ type: 'service_account', private_key: PEM }),
}

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await employAgent(stage, { secrets: SECRETS })
  await agent.store('SIGNS', HEX, {
    policy: { allowed_locations: ['header', 'sign'], sign_templates: ['{body}', TEMPLATE] },
  })
  await agent.store('BODY', SECRETS.ACCOUNT, { policy: { allowed_locations: ['json'] } })
}, 30_000)
afterAll(() => stage.stop())

const basic = Buffer.from('app:SVC_SECRET_DB__PASSWORD').toString('base64')
const sign = (encoding: string, key_encoding: string) => ({
  sign: {
    type: 'hmac-sha256',
    secret: 'SVC_SECRET_SIGNS',
    header: 'x-made',
    template: TEMPLATE,
    value: `${TEMPLATE}.{signature}`,
    encoding,
    key_encoding,
  },
})
const mac = (key: Uint8Array | string) => createHmac('sha256', key).update(TEMPLATE).digest()

const KINDS: [kind: string, call: object, made: string][] = [
  ['the password of a URL', { headers: { 'x-made': 'SVC_SECRET_DB__PASSWORD' } }, PASSWORD],
  ['the user of a URL', { headers: { 'x-made': 'SVC_SECRET_DB__USER' } }, USER],
  [
    'a password in Basic credentials',
    { headers: { authorization: `Basic ${basic}` } },
    Buffer.from(`app:${PASSWORD}`).toString('base64').slice(8, -4),
  ],
  ['the key of a connection string', { headers: { 'x-made': 'SVC_SECRET_STORE__KEY' } }, KEY],
  [
    'the private key of an account',
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"key":"SVC_SECRET_BODY__PRIVATE_KEY"}',
    },
    String(PEM).split('\n')[3] ?? '',
  ],
  ...(['hex', 'base64', 'base64url'] as const).flatMap((encoding) =>
    (
      [
        ['utf8', HEX],
        ['hex', Buffer.from(HEX, 'hex')],
        ['base64', Buffer.from(HEX, 'base64')],
      ] as const
    ).map(([keyEncoding, key]): [string, object, string] => [
      `a signature of a fixed template in ${encoding} with a key in ${keyEncoding}`,
      sign(encoding, keyEncoding),
      mac(key).toString(encoding),
    ]),
  ),
]

test.each(KINDS)('%s that one call stored is redacted in the next', async (kind, call, made) => {
  let stored = ''
  const path = `/${encodeURIComponent(kind)}`
  stage.upstream.on(path, (request, wire) => {
    const sent = Buffer.from(request.body).toString()
    stored ||= `${request.header('x-made') ?? request.header('authorization') ?? sent}`
    wire.write(answerOf(200, { 'content-type': 'text/plain' }, `stored: ${stored}`))
  })
  const first = await agent.resolve({ target_url: stage.url(path), ...call })
  expect([first.status, stored.includes(made)]).toEqual([200, true])
  const { body } = await agent.resolve({ target_url: stage.url(path) })
  expect(body).toMatchObject({ status_code: 200, redacted: true })
  expect((body as { body: string }).body).not.toContain(made)
})

test('a user name without digits, which may be any word, is not redacted', async () => {
  await agent.store('LOCAL', 'postgres://postgres:another-password-7@db.example/main')
  stage.upstream.on('/prose', answerOf(200, {}, 'postgres is a database'))
  const { body } = await agent.resolve({ target_url: stage.url('/prose') })
  expect(body).toMatchObject({ body: 'postgres is a database', redacted: false })
})

describe('the token behind a ticket', () => {
  const TOKEN = 'ya29.c0ASRK0GbRandomTextOfAnAccessTokenThatGoogleHandsOut0123456789'
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

  /** Obtains a token with the account, by an assertion that Cloakroom signs. */
  async function ticketFor(token: string): Promise<string> {
    stage.upstream.on(
      '/token',
      answerOf(
        200,
        { 'content-type': 'application/json' },
        JSON.stringify({ access_token: token }),
      ),
    )
    const aud = stage.url('/token')
    const assertion = `${encode({ alg: 'RS256' })}.${encode({ iss: 'x', aud })}.SVC_SECRET_ROBOT`
    const grant = encodeURIComponent('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const { body } = await agent.resolve({
      target_url: aud,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=${grant}&assertion=${assertion}`,
    })
    return JSON.parse((body as { body: string }).body).access_token
  }
  const use = (ticket: string) =>
    agent.resolve({
      target_url: stage.url('/store'),
      headers: { authorization: `Bearer ${ticket}` },
    })
  let second: IssuedToken
  beforeAll(async () => {
    await agent.store('ROBOT', JSON.stringify({ ...ROBOT, private_key: PEM }))
    second = await agent.issue()
    await agent.provision(second)
  })

  // The ticket's own call prepares a guard: nothing else of the workspace changes before the token is read back.
  test.each([
    ['whole', TOKEN],
    ['in base64', Buffer.from(TOKEN).toString('base64')],
    ['in halves', `${TOKEN.slice(0, 30)} ${TOKEN.slice(-30)}`],
  ])('is redacted in a later call that does not use it, %s', async (_, stored) => {
    const ticket = await ticketFor(TOKEN)
    expect(ticket).toStartWith('SVC_SECRET_ROBOT-ticket-')
    expect((await use(ticket)).status).toBe(200)
    expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${TOKEN}`)
    stage.upstream.on('/stored', answerOf(200, {}, `stored: ${stored}`))
    for (const token of [agent.token, second.text]) {
      const asked = { target_url: stage.url('/stored') }
      const { body } = await resolveAs(stage.app.resolver, token, asked)
      expect(body).toMatchObject({ status_code: 200, redacted: true })
      const text = (body as { body: string }).body
      expect([text.includes(TOKEN.slice(0, 16)), text.includes(stored)]).toEqual([false, false])
    }
  })

  test('is redacted after the workspace changed, and not in an answer to who may not use the secret', async () => {
    await use(await ticketFor(TOKEN))
    await agent.store('ANOTHER', 'another-value-0123')
    stage.upstream.on('/stored', answerOf(200, {}, TOKEN))
    const stored = { target_url: stage.url('/stored') }
    expect((await agent.resolve(stored)).body).toMatchObject({ redacted: true })
    const stranger = await employAgent(stage, { secrets: { OWN: 'a-value-of-their-own' } })
    expect((await stranger.resolve(stored)).body).toMatchObject({ body: TOKEN, redacted: false })
  })

  test('is refused unless it can be guarded: 32 of one secret in an hour', async () => {
    const robot = JSON.stringify({ ...ROBOT, project_id: 'another', private_key: PEM })
    await agent.store('ROBOT', robot)
    const tickets = Array.from({ length: 33 }, (_, at) => ticketFrom(robot, `${TOKEN}${at}`))
    const statuses: number[] = []
    for (const ticket of await Promise.all(tickets)) statuses.push((await use(ticket)).status)
    expect(statuses).toEqual([...new Array(32).fill(200), 429])
    const arrived = stage.upstream.received.length
    const refused = await use((await tickets[32]) ?? '')
    expect(refused.body).toMatchObject({ error_code: 'rate_limited' })
    expect(refused.headers.get('retry-after')).toMatch(/^3[56]\d\d$/)
    expect(stage.upstream.received.length).toBe(arrived)
    expect((await use((await tickets[0]) ?? '')).status).toBe(200)
  })

  async function ticketFrom(robot: string, token: string): Promise<string> {
    const answer = await ticketsFor(
      'ROBOT',
      Buffer.from(robot),
    )(Response.json({ access_token: token }))
    return ((await answer.json()) as { access_token: string }).access_token
  }
})
