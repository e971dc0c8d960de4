// tier: quick
/** The tokens of a signed workspace use the data that its clients store through the API. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { toBase64, utf8 } from '../../src/core/crypto/encoding.ts'
import { keyCommitment } from '../../src/core/crypto/key_commitment.ts'
import { environmentKey, sealSecretValue } from '../../src/core/crypto/secret_value.ts'
import { formatSealedToken, formatToken, parseToken } from '../../src/core/crypto/token.ts'
import {
  grantAgentToken,
  issueWorkloadToken,
  listAgentTokens,
  registerAgent,
} from '../../src/features/agents/contract.ts'
import { addToAllowlist } from '../../src/features/allowlist/contract.ts'
import { upsertSecrets } from '../../src/features/secrets/contract.ts'
import { rekeyWorkspace } from '../../src/features/workspaces/contract.ts'
import { extend } from '../../src/sigchain/index.ts'
import { resolveAs, type Stage, sharedStage } from '../support/agent.ts'
import { callJson } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { envelopeFor } from '../support/people.ts'
import {
  bindingOf,
  clientMade,
  envelopeOf,
  grantOf,
  manifestOf,
  mint,
  type SignedProject,
  signedProject,
} from '../support/statements.ts'

const VALUE = marked('sk_live_')

let stage: Stage
let project: SignedProject
const values: Record<string, string> = {}

beforeAll(async () => {
  stage = await sharedStage()
  project = await signedProject(stage.app)
  const domains = [stage.authorityOf()]
  const link = await project.link('allowlist.changed', { add: domains, remove: [] })
  const params = { workspace_id: project.workspaceId }
  await project.owner.api.call(addToAllowlist, { params, body: { domains, link } })
  await store('KEY', 1)
}, 60_000)
afterAll(() => stage.stop())

async function store(key: string, revision: number): Promise<void> {
  const secrets = { [key]: project.seal(key, VALUE) }
  Object.assign(values, secrets)
  const manifest = await manifestOf(project, values, revision)
  const body = { project_id: project.projectId, secrets, manifest }
  await project.owner.api.call(upsertSecrets, { body })
}

async function expectUsed(token: string, key = 'KEY'): Promise<void> {
  const headers = { authorization: `Bearer SVC_SECRET_${key}` }
  const answer = await resolveAs(stage.app.resolver, token, {
    target_url: stage.url('/charges'),
    headers,
  })
  expect(answer).toMatchObject({ status: 200, body: { status_code: 200 } })
  expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${VALUE}`)
}

test('a call is verified by the token of a workload, which expires, and after every write', async () => {
  const token = mint()
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  const body = { token: await clientMade(project, token, { expires_at }) }
  const params = { project_id: project.projectId }
  await project.owner.api.call(issueWorkloadToken, { params, body })
  const text = formatToken('wkl', token.id, token.secret)
  await expectUsed(text)
  await store('OTHER', 2)
  await expectUsed(text, 'OTHER')
  for (const form of [text, formatSealedToken(token.id, token.secret)]) {
    const answer = await callJson(stage.app.resolver, 'POST', '/api/workloads/env/', {
      token: form,
      body: {},
    })
    expect(answer.status).toBe(200)
  }
})

test("a call is verified by an agent's token that a client made", async () => {
  const token = mint()
  const id = Bun.randomUUIDv7()
  const granted = { kind: 'agent', agent_id: id, label: 'default', capabilities: ['use'] } as const
  const bounds = { project_id: null, environment: null }
  const made = await clientMade(project, token, { ...granted, ...bounds, capabilities: ['use'] })
  const params = { workspace_id: project.workspaceId }
  await project.owner.api.call(registerAgent, { params, body: { id, name: 'made', token: made } })
  await expectUsed(formatToken('agt', token.id, token.secret))
})

test('a call is verified by a token that the server made, once it has a grant', async () => {
  const { api } = project.owner
  const { workspaceId } = project
  const agent = await api.call(registerAgent, {
    params: { workspace_id: workspaceId },
    body: { name: 'server-made' },
  })
  const text = agent.token ?? ''
  const ask = () =>
    resolveAs(stage.app.resolver, text, { target_url: stage.url('/charges'), headers: {} })
  expect(await ask()).toMatchObject({ status: 409, body: { error_code: 'key_not_provisioned' } })
  const secret = new Uint8Array(parseToken(text)?.secret ?? [])
  const publicKey = new Uint8Array(Buffer.from(agent.public_key, 'base64'))
  const token = { id: agent.token_id, secret, publicKey }
  const params = {
    ...{ workspace_id: workspaceId, registration_id: agent.agent.id },
    token_id: token.id,
  }
  const [stored] = await api.call(listAgentTokens, { params })
  const grant = await grantOf(project, token, {
    ...{ kind: 'agent', agent_id: agent.agent.id, label: 'default', capabilities: ['use'] },
    ...{ project_id: null, environment: null, expires_at: stored?.expires_at ?? null },
  })
  const binding = await bindingOf(project, token)
  const envelopes = [await envelopeOf(project, token)]
  await api.call(grantAgentToken, { params, body: { grant, binding, envelopes } })
  await expectUsed(text)
})

test('a call after a rekey is verified by the tokens that the rekey carries and by no other', async () => {
  const { owner, workspaceId, projectId } = project
  const params = { project_id: projectId }
  const [carried, left] = [mint(), mint()]
  for (const token of [carried, left]) {
    const body = { token: await clientMade(project, token, { label: token.id }) }
    await owner.api.call(issueWorkloadToken, { params, body })
    await expectUsed(formatToken('wkl', token.id, token.secret))
  }
  const workspaceKey = new Uint8Array(randomBytes(32))
  const key_commitment = keyCommitment(workspaceId, 2, workspaceKey)
  const link = await project.link('epoch.advanced', { epoch: 2, key_commitment })
  const chain = await extend(await project.chain(), [link])
  const after = { ...project, workspaceKey, chain: async () => chain }
  const environment = 'development'
  const key = environmentKey(workspaceKey, projectId, environment, 2)
  const sealed = Object.keys(values).map((name) => {
    const place = { projectId, environment, key: name }
    return [name, toBase64(sealSecretValue(key, place, null, 2, utf8(VALUE)))] as const
  })
  const encrypted_workspace_key = await envelopeFor(owner, { workspaceId, workspaceKey, epoch: 2 })
  const revision = sealed.length + 1
  await owner.api.call(rekeyWorkspace, {
    params: { workspace_id: workspaceId },
    body: {
      ...{ epoch: 2, link, members: [{ user_id: owner.userId, encrypted_workspace_key }] },
      manifests: [await manifestOf(after, Object.fromEntries(sealed), revision)],
      tokens: [{ token_id: carried.id, envelopes: [await envelopeOf(after, carried)] }],
      secrets: sealed.map(([name, value]) => ({
        ...{ project_id: projectId, environment, key: name, value, policy: null },
      })),
    },
  })
  await expectUsed(formatToken('wkl', carried.id, carried.secret))
  const text = formatToken('wkl', left.id, left.secret)
  const headers = { authorization: 'Bearer SVC_SECRET_KEY' }
  const refused = await resolveAs(stage.app.resolver, text, {
    target_url: stage.url('/charges'),
    headers,
  })
  expect(refused).toMatchObject({ status: 409, body: { error_code: 'key_not_provisioned' } })
})
