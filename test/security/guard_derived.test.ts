// tier: quick
/**
 * Case 93: a value that a call derives from a secret, such as a part of it or its signature of a fixed template, and
 * stores at an API is not returned in the next call, which does not use the secret.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { answerOf } from '../support/upstream.ts'

const PASSWORD = 'p@ss/word-of-db-9'
const USER = 'user4711ofdb'
const KEY = Buffer.from('the account key of storage, 32 b').toString('base64')
const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})
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
  agent = await createAgentWithToken(stage, { secrets: SECRETS })
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
