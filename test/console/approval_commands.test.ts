// tier: quick
/** The worker's commands about approvals and proposals, without a browser: what the page is shown, and what is signed. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { readSecrets } from '../../src/client/environment.ts'
import { ChangedName } from '../../src/client/known_names.ts'
import { approvalsCommands } from '../../src/console/web/keys/commands/approvals.ts'
import {
  type PolicyChange,
  policiesCommands,
} from '../../src/console/web/keys/commands/policies.ts'
import { proposalsCommands } from '../../src/console/web/keys/commands/proposals.ts'
import type { UnlockedSession } from '../../src/console/web/keys/unlocked_session.ts'
import { listAgents, registerAgent } from '../../src/features/agents/contract.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { type Stage, sharedStage } from '../support/agent.ts'
import { HELD, type HeldStage, heldStage } from '../support/approvals.ts'
import { marked } from '../support/canary.ts'
import { openEnvironment } from '../support/signed_environment.ts'
import { answerOf } from '../support/upstream.ts'
import { keysOf, pinningNames } from './unlocked_keys.ts'

const VALUE = marked('held_worker_')

let stage: Stage
let project: HeldStage
let keys: UnlockedSession
let workspaceId: string

beforeAll(async () => {
  stage = await sharedStage()
  stage.upstream.on('/v1/charges', (_, wire) => void wire.write(answerOf(200, {}, 'sent')))
  project = await heldStage(stage)
  workspaceId = project.project.workspaceId
  keys = keysOf(project.project.owner)
})
afterAll(() => stage.stop())
beforeEach(async () => {
  await stage.app.connection.sql`delete from approvals`
  await project.store('KEY', VALUE, HELD)
})

const CALL = {
  method: 'POST',
  headers: { authorization: 'Bearer SVC_SECRET_KEY' },
  body: '{"amount":1}',
}
const call = (changed: object = {}) => ({
  target_url: stage.url('/v1/charges'),
  ...CALL,
  ...changed,
})

const waiting = () => approvalsCommands.waiting(keys, { workspaceId })

async function shown() {
  const [request] = (await waiting()).requests
  if (!request) throw new Error('no request is shown')
  return { workspaceId, id: request.id, digest: request.digest }
}

test('a request is shown with all that will be sent, and without characters that hide some of it', async () => {
  const text = 'refund \u202e1000'
  await project.request(call({ body: text, reason: 'A refund' }))
  const { requests, hidden } = await waiting()
  expect(hidden).toBe(0)
  expect(requests).toMatchObject([
    {
      method: 'POST',
      path: '/v1/charges',
      headers: [{ name: 'authorization', value: 'Bearer SVC_SECRET_KEY' }],
      body: { kind: 'text', text: 'refund ?1000' },
      secrets: [{ key: 'KEY', project: 'api', by: 'member' }],
      prefixes: ['/v1/charges', '/v1'],
      mostSeconds: 900,
      needsAdmin: false,
      reason: 'A refund',
    },
  ])
  expect(JSON.stringify(requests)).not.toContain(VALUE)
})

test('a request that does not verify is counted, and nothing of it reaches the page', async () => {
  const id = await project.request(call())
  await stage.app.connection
    .sql`update approvals set host = 'evil.example', digest = 'x' where id = ${id}`
  const found = await waiting()
  expect(found).toMatchObject({ requests: [], hidden: 1 })
  expect(JSON.stringify(found)).not.toContain('evil.example')
})

test('an agent is shown by its pinned name, and a request under a changed name is hidden', async () => {
  const { sql } = stage.app.connection
  const params = { workspace_id: workspaceId }
  await keys.api.call(registerAgent, { params, body: { name: 'ceo-bot' } })
  const pinned = pinningNames(keys)
  const agents = await pinned.api.list(listAgents, { params })
  const id = await project.request(call())
  await sql`update approvals set agent = 'ceo-bot' where id = ${id}`
  const { requests } = await approvalsCommands.waiting(pinned, { workspaceId })
  const names = agents.map(({ name }) => name).filter((name) => name !== 'ceo-bot')
  expect(requests.map(({ agent }) => agent)).toEqual(names)
  await sql`delete from agents where workspace_id = ${workspaceId} and name = 'ceo-bot'`
  await sql`update agents set name = 'ceo-bot' where workspace_id = ${workspaceId}`
  const order = { workspaceId, id, digest: requests[0]?.digest ?? '', window: null }
  await approvalsCommands.waiting(pinned, { workspaceId })
  await expect(approvalsCommands.allow(pinned, order)).rejects.toThrow(ChangedName)
  expect(await approvalsCommands.waiting(pinned, { workspaceId })).toMatchObject({
    requests: [],
    hidden: 1,
  })
  await sql`update agents set name = ${names[0] ?? ''} where workspace_id = ${workspaceId}`
})

test('a press allows only the call that was shown', async () => {
  await project.request(call())
  const order = await shown()
  const other = approvalsCommands.allow(keys, { ...order, digest: 'another', window: null })
  await expect(other).rejects.toMatchObject({ code: 'conflict' })
  await approvalsCommands.allow(keys, { ...order, window: null })
  expect(await approvalsCommands.status(keys, order)).toBe('released')
  expect((await waiting()).released).toMatchObject([{ id: order.id, window: null }])
  expect(await project.resolve(call())).toMatchObject({ status: 200 })
  expect(await approvalsCommands.status(keys, order)).toBe('used')
  const action = 'approval.released'
  const query = { workspace_id: workspaceId, credential: 'KEY', action }
  expect(await keys.api.list(listAuditLogs, { query })).toMatchObject([
    { action, credential_ref: 'KEY' },
  ])
})

test('a request whose secret was replaced after it was shown releases nothing', async () => {
  await project.request(call())
  const order = await shown()
  await project.store('KEY', marked('replaced_'), HELD)
  const allowed = approvalsCommands.allow(keys, { ...order, window: null })
  await expect(allowed).rejects.toMatchObject({ code: 'unverified_request' })
  expect(await approvalsCommands.status(keys, order)).not.toBe('released')
})

test('a window includes the method and path of its call, takes other methods, and is revoked', async () => {
  await project.request(call())
  const order = await shown()
  for (const window of [
    { methods: ['POST'], prefix: '/v1/charges', seconds: 901 },
    { methods: ['POST'], prefix: '/v2', seconds: 300 },
    { methods: ['GET'], prefix: '/v1/charges', seconds: 300 },
    { methods: ['POST', 'TRACE'], prefix: '/v1/charges', seconds: 300 },
    { methods: [], prefix: '/v1/charges', seconds: 300 },
  ])
    await expect(approvalsCommands.allow(keys, { ...order, window })).rejects.toMatchObject({
      code: 'conflict',
    })
  const methods = ['PUT', 'POST']
  await approvalsCommands.allow(keys, {
    ...order,
    window: { methods, prefix: '/v1', seconds: 300 },
  })
  const host = stage.authorityOf()
  const window = { methods: ['POST', 'PUT'], host, prefix: '/v1' }
  expect((await waiting()).released).toMatchObject([{ id: order.id, window }])
  expect(await project.resolve(call({ body: 'other' }))).toMatchObject({ status: 200 })
  expect(await project.resolve(call({ method: 'PUT' }))).toMatchObject({ status: 200 })
  expect(await project.resolve(call({ method: 'PATCH' }))).toMatchObject({ status: 403 })
  await approvalsCommands.revoke(keys, order)
  expect(await project.resolve(call({ body: 'third' }))).toMatchObject({ status: 403 })
})

test('a denial with a mute refuses other calls of the token, too', async () => {
  await project.request(call())
  await approvalsCommands.deny(keys, { ...(await shown()), muteSeconds: 3_600 })
  const refused = { status: 403, body: { error_code: 'approval_denied' } }
  expect(await project.resolve(call({ body: 'other' }))).toMatchObject(refused)
})

test('an edit of a policy keeps its approval, and changes it only when that is sent', async () => {
  const { projectId } = project.project
  const place = { workspaceId, projectId, environment: 'development' }
  const stored = async () => {
    const found = await readSecrets(openEnvironment(project.project))
    return found.find(({ key }) => key === 'KEY') ?? { version: 0, policy: null }
  }
  const edit = async (change: PolicyChange) => {
    const versions = { KEY: (await stored()).version }
    await policiesCommands.set(keys, { ...place, change, versions })
    return (await stored()).policy
  }
  const allowed_methods: PolicyChange['allowed_methods'] = ['POST']
  expect(await edit({ allowed_methods })).toEqual({ allowed_methods, ...HELD })
  const approval = { by: 'admin', ttl_seconds: 0 } as const
  expect(await edit({ approval })).toEqual({ allowed_methods, approval })
  expect(await edit({ approval: null })).toEqual({ allowed_methods })
  expect(await edit({ allowed_methods: null })).toBeNull()
})

test('a proposal is accepted as ordinary changes: its host, and its secret for that host only', async () => {
  const { projectId } = project.project
  const answer = await fetch(`${stage.app.resolver}/v1/proposals`, {
    method: 'POST',
    headers: { authorization: `Bearer ${project.token.text}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      reason: 'Deploys',
      hosts: ['api.deploy.example'],
      secrets: [{ key: 'DEPLOY_KEY' }],
    }),
  })
  expect(answer.status).toBe(201)
  const [proposal] = (await waiting()).proposals
  if (!proposal) throw new Error('no proposal is shown')
  const { hosts } = proposal
  const at = { workspaceId, projectId, environment: 'development' }
  expect(await proposalsCommands.hosts(keys, { workspaceId, hosts })).toEqual(hosts)
  const { secrets } = proposal
  expect(await proposalsCommands.secrets(keys, { ...at, secrets })).toEqual(['DEPLOY_KEY'])
  const values = { DEPLOY_KEY: marked('deploy_') }
  const stored = { projectId, environment: 'development', values }
  await proposalsCommands.accept(keys, { workspaceId, proposal, hosts, stored })
  const listed = await readSecrets(openEnvironment(project.project))
  const { policy } = listed.find(({ key }) => key === 'DEPLOY_KEY') ?? {}
  expect(policy).toEqual({ allowed_domains: hosts })
  expect((await project.project.chain()).allowlist.has('api.deploy.example')).toBe(true)
  expect((await waiting()).proposals).toEqual([])
})
