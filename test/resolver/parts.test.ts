// tier: quick
/** `SVC_SECRET_NAME__PASSWORD` is a part of a value: under its policy, guarded, and after a secret of that name. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type Agent,
  createAgentWithToken,
  recordOf,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { answerOf } from '../support/upstream.ts'

const PASSWORD = marked('p4ss')
const USER = marked('user-key-0123456789')
const ACCOUNT = marked('YWNjb3VudA')

let stage: Stage
let agent: Agent
beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, {
    secrets: {
      DATABASE: `https://ada:${PASSWORD}%2F@db.example/main`,
      DSN: `https://${USER}@ingest.example/1`,
      STORE: `AccountName=store;AccountKey=${ACCOUNT};EndpointSuffix=core.example`,
      PLAIN: marked('no-parts'),
      TAKEN: `https://ada:${PASSWORD}@db.example/main`,
      TAKEN__PASSWORD: 'a secret of that name',
    },
  })
  const policy = { allowed_methods: ['GET' as const], allowed_locations: ['query' as const] }
  await agent.store('NARROW', `https://ada:${PASSWORD}@db.example/main`, { policy })
  stage.upstream.on('/echo', ({ header, path }, wire) => {
    wire.write(answerOf(200, {}, `${header('x-key') ?? ''} ${path}`))
  })
})
afterAll(() => stage.stop())

const call = (key: string) =>
  agent.resolve({ target_url: stage.url('/echo'), headers: { 'x-key': key } })
const arrived = () => stage.upstream.received.at(-1)?.header('x-key')

test.each([
  ['DATABASE__PASSWORD', `${PASSWORD}/`],
  ['DSN__USER', USER],
  ['STORE__KEY', ACCOUNT],
  ['TAKEN__PASSWORD', 'a secret of that name'],
])('%s is inserted, and redacted in the answer under its name', async (name, value) => {
  const answer = await call(`SVC_SECRET_${name}`)
  expect(arrived()).toBe(value)
  expect(answer.body).toMatchObject({ body: `SVC_SECRET_${name} /echo`, redacted: true })
  expect(await recordOf(stage.app, answer)).toMatchObject({ credential_ref: name })
})

describe('rejected parts of a secret', () => {
  test.each([
    ['PLAIN__PASSWORD', 422, 'unusable_secret'],
    ['DSN__PRIVATE_KEY', 422, 'unusable_secret'],
    ['NONE__PASSWORD', 422, 'unknown_secret'],
    ['DATABASE__HOST', 422, 'unknown_secret'],
    ['NARROW__PASSWORD', 403, 'policy_blocked'],
  ])('%s is rejected: %d %s', async (name, status, code) => {
    const sent = stage.upstream.bytes
    expect(await call(`SVC_SECRET_${name}`)).toMatchObject({ status, body: { error_code: code } })
    expect(stage.upstream.bytes).toBe(sent)
  })
})

test('a part of a secret may be in the places that the policy of the whole secret allows, and in no others', async () => {
  const url = (names: string) => stage.url(`/echo?a=${names}`)
  const answer = await agent.resolve({
    target_url: url('SVC_SECRET_NARROW__PASSWORD&b=SVC_SECRET_DATABASE__PASSWORD'),
  })
  expect(stage.upstream.received.at(-1)?.path).toBe(
    `/echo?a=${PASSWORD}&b=SVC_SECRET_DATABASE__PASSWORD`,
  )
  expect(JSON.stringify(answer.body)).not.toContain(PASSWORD)
  const post = { method: 'POST', target_url: url('SVC_SECRET_NARROW__PASSWORD') }
  expect(await agent.resolve(post)).toMatchObject({ status: 403 })
})

test('with X-Service-Mark the guard writes marks, and the upstream does not receive the word', async () => {
  const mark = `~${'m4rk'.repeat(6)}~`
  const forward = (given: string, type: string) => {
    stage.upstream.on(
      '/whole',
      answerOf(200, { 'content-type': type }, `{"a":"${PASSWORD}/","b":"SVC_SECRET_DSN"}`),
    )
    return fetch(`${stage.app.resolver}/v1/forward/${stage.authorityOf()}/whole`, {
      headers: {
        'x-service-token': agent.token,
        'x-service-mark': given,
        'x-key': 'SVC_SECRET_DATABASE__PASSWORD',
      },
    })
  }
  const json = await forward(mark, 'application/json')
  expect(await json.text()).toBe(`{"a":"${mark}1DATABASE__PASSWORD~","b":"SVC_SECRET_DSN"}`)
  expect(JSON.stringify(stage.upstream.received.at(-1)?.headers)).not.toContain(mark)
  stage.upstream.on('/text', answerOf(200, { 'content-type': 'text/plain' }, `is ${USER}`))
  const text = await fetch(`${stage.app.resolver}/v1/forward/${stage.authorityOf()}/text`, {
    headers: {
      'x-service-token': agent.token,
      'x-service-mark': mark,
      'x-key': 'SVC_SECRET_DSN__USER',
    },
  })
  expect(await text.text()).toBe(`is ${mark}0DSN__USER~`)
  for (const wrong of [
    '',
    '~short~',
    `~${'x'.repeat(41)}~`,
    `~${'m4rk'.repeat(5)}"`,
    'SVC_SECRET_KEY',
  ]) {
    expect((await forward(wrong, 'application/json')).status).toBe(422)
  }
})

test('a policy with U+0000 in a template breaks no placeholder of its environment', async () => {
  const policy = { allowed_locations: ['query' as const], sign_templates: ['\u0000{body}'] }
  await agent.store('ODD', marked('odd-value'), { policy })
  const answer = await agent.resolve({ target_url: stage.url('/echo?key=SVC_SECRET_ODD') })
  expect(answer).toMatchObject({ status: 200, body: { status_code: 200 } })
})
