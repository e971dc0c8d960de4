// tier: all
/** A rekey keeps derived credentials: calls continue with the same access token (protocol 13.2). */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { renewWorkspaceKey } from '../../src/client/actions/rekey.ts'
import { toPlainWorkspace } from '../../src/client/workspace.ts'
import { createAgentWithToken, resolveAs, type Stage, sharedStage } from '../support/agent.ts'
import { type FakeProvider, startProvider } from '../support/oauth/provider.ts'
import { until } from '../support/until.ts'
import { openAccount, type Terminal } from './person.ts'
import { signedAccount } from './signed_person.ts'

const ID = 'id.provider.example'

let stage: Stage
let provider: FakeProvider
beforeAll(async () => {
  stage = await sharedStage()
  stage.names.set(ID, ['127.0.0.1'])
  provider = await startProvider({ authority: stage.authority, host: ID })
})
afterAll(async () => {
  await provider.stop()
  await stage.stop()
})
beforeEach(() => {
  provider.requests.length = 0
})

const rootWith = (fields: object) =>
  JSON.stringify({
    token_url: provider.tokenUrl,
    client_id: provider.clientId,
    client_secret: provider.clientSecret,
    ...fields,
  })
const refreshing = async () => rootWith({ refresh_token: await provider.issueRefreshToken() })

/** The access token that the upstream receives from a call. */
async function usedToken(token: string): Promise<string> {
  const headers = { authorization: 'Bearer SVC_SECRET_CRM' }
  const { status } = await resolveAs(stage.app.resolver, token, {
    target_url: stage.url('/'),
    headers,
  })
  expect(status).toBe(200)
  return stage.upstream.received.at(-1)?.header('authorization')?.replace('Bearer ', '') ?? ''
}

describe.each([
  ['plain', openAccount],
  ['signed', signedAccount],
] as const)('in a %s workspace', (kind, open) => {
  let person: Terminal
  let token: string
  beforeAll(async () => {
    person = await open(stage.app, `${kind}-${Bun.randomUUIDv7()}@example.com`)
    await person.must('init', 'crm')
    await person.must('allowlist', 'add', stage.authorityOf(), provider.host)
    token = (await person.must('agent', 'create', 'bot', '-q')).trim()
  }, 60_000)
  const store = async (stdin: string) => {
    const args = ['secrets', 'set', 'CRM', '--kind', 'oauth2', '--stdin']
    expect(await person.run(args, { stdin })).toMatchObject({ code: 0 })
  }
  afterAll(() => person.remove())

  test('the next call uses the same access token, and nothing is renewed', async () => {
    await store(await refreshing())
    const before = await usedToken(token)
    await person.must('workspace', 'rekey', '--yes')
    expect(await usedToken(token)).toBe(before)
    expect(provider.requests).toHaveLength(1)
  })

  test('a state that does not open is omitted, and the credential is derived again', async () => {
    await store(rootWith({}))
    const before = await usedToken(token)
    await stage.app.connection.sql`update derived_states set generation = generation + 1`
    await person.must('workspace', 'rekey', '--yes')
    expect(await usedToken(token)).not.toBe(before)
    expect(provider.requests).toHaveLength(2)
  })
})

describe('while a credential is renewed', () => {
  afterEach(() => provider.clearFaults())

  test('a rekey waits for a renewal, and carries its result', async () => {
    const agent = await createAgentWithToken(stage, {
      domains: [stage.authorityOf(), provider.host],
    })
    await agent.store('CRM', await refreshing(), { policy: { kind: 'oauth2' } })
    const answer = Promise.withResolvers<void>()
    provider.setFault({ holdAnswer: answer.promise })
    const call = usedToken(agent.token)
    await until(() => provider.requests.length === 1)
    const { workspaceId: id, person } = agent
    const workspace = toPlainWorkspace({ id, name: 'CRM', epoch: 1, key: person.workspaceKey })
    const refusals: string[] = []
    const api = {
      ...person.api,
      call: ((endpoint, input) =>
        person.api.call(endpoint, input).catch((error) => {
          refusals.push(error.code)
          answer.resolve()
          throw error
        })) as typeof person.api.call,
    }
    await renewWorkspaceKey({ api, workspace }, async () => {})
    const before = await call
    expect(refusals).toContain('conflict')
    expect(await usedToken(agent.token)).toBe(before)
    expect(provider.requests).toHaveLength(1)
  })
})
