// tier: all
/** Deliveries with derived credentials: they contain the derived value, and no root (protocol 13.5). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fetchEnvironment } from '../../../src/client/delivery/delivery.ts'
import { formatSealedToken, parseToken } from '../../../src/core/crypto/token.ts'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../../support/agent.ts'
import { callJson } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'
import { cannedAnswers, type FakeProvider, startProvider } from '../../support/oauth/provider.ts'

const ID = 'id.provider.example'

let stage: Stage
let provider: FakeProvider
let agent: Agent
const plain = marked('a-plain-value')
beforeAll(async () => {
  stage = await sharedStage()
  stage.names.set(ID, ['127.0.0.1'])
  provider = await startProvider({ authority: stage.authority, host: ID })
  agent = await createAgentWithToken(stage, {
    domains: [provider.host],
    ofProject: true,
    capabilities: ['use', 'read'],
    secrets: { PLAIN: plain },
  })
  const root = async () =>
    JSON.stringify({
      token_url: provider.tokenUrl,
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
      refresh_token: await provider.issueRefreshToken(),
    })
  const kind = 'oauth2'
  await agent.store('CRM', await root(), { policy: { kind } })
  await agent.store('KEPT', await root(), { policy: { kind, allowed_locations: ['header'] } })
  const role = {
    access_key_id: 'AKIA0123456789ABCDEF',
    secret_access_key: marked('role-key-0123456789'),
    role_arn: 'arn:aws:iam::123456789012:role/agent',
  }
  await agent.store('ROLE', JSON.stringify(role), { policy: { kind: 'aws_role' } })
})
afterAll(async () => {
  await provider.stop()
  await stage.stop()
})

const deliver = (body: object = {}, token = agent.token) =>
  callJson(stage.app.controlPlane, 'POST', '/api/workloads/env/', {
    token,
    body: { environment: 'development', ...body },
  })
type Delivered = { secrets: Record<string, string>; unavailable?: Record<string, string> }

test('a plain delivery has the credential, with the reason why a role is missing', async () => {
  const { body } = await deliver()
  const { secrets, unavailable } = body as Delivered
  expect(Object.keys(secrets).sort()).toEqual(['CRM', 'PLAIN'])
  expect(await provider.isLive(secrets.CRM ?? '')).toBe(true)
  expect(unavailable).toEqual({ ROLE: 'policy_blocked' })
})

test('names select secrets, and an unknown name is reported as unavailable', async () => {
  const { body } = await deliver({ names: ['CRM', 'NONE'] })
  const { secrets, unavailable } = body as Delivered
  expect(Object.keys(secrets)).toEqual(['CRM'])
  expect(unavailable).toEqual({ NONE: 'unknown_secret' })
})

test('a sealed delivery names derived secrets, and has neither root nor state', async () => {
  const { id, secret } = parseToken(agent.token) ?? { id: '', secret: new Uint8Array() }
  const { body } = await deliver({}, formatSealedToken(id, secret))
  const { sealed, derived } = body as { sealed: object; derived: string[] }
  expect([Object.keys(sealed), derived]).toEqual([['PLAIN'], ['CRM']])
})

test('a client gets the sealed values and the derived credentials', async () => {
  const scope = { environment: 'development' }
  const delivery = await fetchEnvironment(stage.app.controlPlane, agent.token, scope)
  const opened = await delivery.open()
  expect([...opened.keys()].sort()).toEqual(['CRM', 'PLAIN'])
  expect(opened.get('PLAIN')?.value).toBe(plain)
  expect(await provider.isLive(opened.get('CRM')?.value ?? '')).toBe(true)
})

describe('a delivery without a credential', () => {
  test('a delivery without a credential has the other secrets, with the code of the reason', async () => {
    provider.setFault({ answer: cannedAnswers.invalidGrant })
    await agent.store('CRM', JSON.stringify({ ...rootFields(), refresh_token: 'revoked-token' }), {
      policy: { kind: 'oauth2' },
    })
    const { status, body } = await deliver()
    expect(status).toBe(200)
    expect(body).toMatchObject({
      secrets: { PLAIN: plain },
      unavailable: { CRM: 'reconnect_required' },
    })
  })
})

const rootFields = () => ({
  token_url: provider.tokenUrl,
  client_id: provider.clientId,
  client_secret: provider.clientSecret,
})
