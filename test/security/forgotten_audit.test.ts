// tier: quick, both databases in test:all
/**
 * A workspace could never see a change that its endpoint forgot to record, so the pipeline rejects it. Endpoints that
 * leave no record are listed, with the reason, in their contracts and here.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { ChangeRecords, storeDenial } from '../../src/audit/changes.ts'
import { systemTimers } from '../../src/core/async/timers.ts'
import { BodyMemory } from '../../src/core/body_memory.ts'
import { openLog } from '../../src/core/log.ts'
import { hostCheck } from '../../src/core/net/host.ts'
import { uuid } from '../../src/core/validation/validate.ts'
import { RateLimiter } from '../../src/database/limits/rate.ts'
import { workspaces } from '../../src/database/schema/index.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { issueAgentToken, revokeAgentToken } from '../../src/features/agents/contract.ts'
import { defineEndpoint, type Endpoint, mustRecord } from '../../src/http/endpoint.ts'
import { openPager } from '../../src/http/page.ts'
import type { BoundAudit } from '../../src/http/recorder.ts'
import { route } from '../../src/http/route.ts'
import { type Listener, serve } from '../../src/http/serve.ts'
import { openIdentity } from '../../src/identity/authenticate.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { recordedChanges } from '../support/audit.ts'
import { type Person, registerPerson } from '../support/people.ts'
import { buildWorld, fingerprint, type World } from './matrix_world.ts'

const rename = defineEndpoint({
  name: 'test.rename',
  summary: 'Rename a workspace, and record it in the way that the name says',
  method: 'PATCH',
  path: '/rename/{workspace_id}/{name}/',
  access: { kind: 'member', permission: 'workspace.update', tenant: 'path.workspace_id' },
  params: z.object({ workspace_id: uuid, name: z.string() }),
})

let app: TestApp
let listener: Listener
let origin: string
let person: Person
let world: World

beforeAll(async () => {
  app = await startTestApp()
  person = await registerPerson(app)
  world = await buildWorld(app)
  const { db } = app.connection
  const log = openLog('error', (line) => app.logs.push(line))
  const changes = new ChangeRecords({ ...app.connection, log, timers: systemTimers }, false)
  const limiter = () => new RateLimiter({ count: 1000, seconds: 1 }, app.clock)
  listener = serve({
    surface: 'control-plane',
    routes: [
      route(rename, async ({ tx, grant, audit, params: { name } }) => {
        await tx.update(workspaces).set({ name }).where(eq(workspaces.id, grant.workspaceId))
        if (name === 'recorded') record(audit, grant.workspaceId)
        return undefined
      }),
    ],
    db,
    identity: openIdentity({ db, pepper: app.pepper }),
    storeChanges: (...given) => changes.store(...given),
    storeDenial,
    checkHost: hostCheck(app.config.ALLOWED_HOSTS),
    networkOf: () => '127.0.0.1',
    originOf: () => 'http://127.0.0.1',
    limits: { register: limiter(), login: limiter(), api: limiter() },
    log,
    readPage: openPager(app.config),
    bodies: new BodyMemory(),
    isStopping: () => false,
  })
  origin = listener.open({ hostname: '127.0.0.1', port: 0 })
}, 60_000)
afterAll(async () => {
  await listener.close(100)
  await app.stop()
})

function record(audit: BoundAudit, id: string): void {
  audit.record({
    action: 'workspace.renamed',
    resource: { type: 'workspace', id, name: 'recorded' },
  })
}

async function renameTo(name: string): Promise<number> {
  const { status } = await fetch(`${origin}/rename/${person.workspaceId}/${name}/`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${person.token}` },
  })
  return status
}

async function nameNow(): Promise<string | undefined> {
  const [found] = await app.connection.db
    .select({ name: workspaces.name })
    .from(workspaces)
    .where(eq(workspaces.id, person.workspaceId))
  return found?.name
}

test('an endpoint without its audit record changes nothing, and the log names it', async () => {
  const [name, records] = [await nameNow(), await recordedChanges(app, person.workspaceId)]
  expect(await renameTo('forgotten')).toBe(500)
  expect(await nameNow()).toBe(name)
  expect(await recordedChanges(app, person.workspaceId)).toEqual(records)
  expect(app.logs.join()).toContain('"error":"UnrecordedChange","code":"test.rename"')
})

test('an endpoint with its audit record stores both together', async () => {
  const records = await recordedChanges(app, person.workspaceId)
  expect(await renameTo('recorded')).toBe(200)
  expect(await nameNow()).toBe('recorded')
  expect(await recordedChanges(app, person.workspaceId)).toEqual([
    ...records,
    'workspace.renamed recorded',
  ])
})

type Unchanged = { method: string; path: string; body?: object }

const unknown = {
  email: 'unknown@people.example',
  role: 'member',
  encrypted_workspace_key: 'AA==',
}

/** Every place where a handler reports that nothing was changed, except for an account without a workspace. */
const unchanged: Record<string, (world: World, revokedId: string) => Unchanged> = {
  'a domain that is listed already': ({ workspaceId, domain }) => ({
    method: 'POST',
    path: `/api/workspaces/${workspaceId}/allowlist/`,
    body: { domain },
  }),
  'an invitation of an unknown address': ({ workspaceId }) => ({
    method: 'POST',
    path: `/api/workspaces/${workspaceId}/members/`,
    body: unknown,
  }),
  'an invitation of one to a project': ({ projectId }) => ({
    method: 'POST',
    path: `/api/projects/${projectId}/invite/`,
    body: unknown,
  }),
  'a question for the roles in a project': ({ projectId, person: { member } }) => ({
    method: 'POST',
    path: `/api/projects/${projectId}/invite/`,
    body: { members: [member.email] },
  }),
  'the role that a member has': ({ workspaceId, person: { member } }) => ({
    method: 'PATCH',
    path: `/api/workspaces/${workspaceId}/members/${member.userId}/`,
    body: { role: 'member' },
  }),
  'an empty change of a project': ({ projectId }) => ({
    method: 'PATCH',
    path: `/api/projects/${projectId}/`,
    body: {},
  }),
  'revoking a token once more': ({ workspaceId, agentId }, revokedId) => ({
    method: 'DELETE',
    path: `/api/workspaces/${workspaceId}/agents/${agentId}/tokens/${revokedId}/`,
  }),
}

test.each(Object.entries(unchanged))('%s changes nothing and is not recorded', async (_, make) => {
  const { token } = world.person.owner
  const { method, path, body } = make(world, await revokedToken())
  const before = await fingerprint(world)
  expect(await app.call(method, path, { token, body })).toMatchObject({ status: 200 })
  expect(await fingerprint(world)).toEqual(before)
})

async function revokedToken(): Promise<string> {
  const { workspaceId, agentId, person } = world
  const params = { workspace_id: workspaceId, registration_id: agentId }
  const { token_id } = await person.owner.api.call(issueAgentToken, { params, body: {} })
  await person.owner.api.call(revokeAgentToken, { params: { ...params, token_id } })
  return token_id
}

const served = listAllEndpoints()
  .flatMap(({ endpoints }) => endpoints as readonly Endpoint[])
  .filter(({ method }) => method !== 'GET' && method !== 'OPTIONS')

const namesOf = (which: (endpoint: Endpoint) => boolean) =>
  [...new Set(served.filter(which).map(({ name }) => name))].sort()

test('each endpoint that changes data without a record is listed with its reason', () => {
  const reasons = Object.groupBy(
    served.filter((endpoint) => endpoint.unrecorded !== undefined),
    ({ unrecorded = '' }) => unrecorded,
  )
  const named = Object.entries(reasons).map(([reason, list = []]) => [
    reason,
    list.map(({ name }) => name).sort(),
  ])
  expect(Object.fromEntries(named)).toEqual({
    'changes an account, not a workspace': [
      ...['auth.change_password', 'auth.console.login', 'auth.console.passkey_login'],
      ...['auth.console.refresh', 'auth.login', 'auth.logout'],
      ...['auth.passkey_login', 'auth.passkey_login.begin'],
      ...['auth.passkeys.add', 'auth.passkeys.begin', 'auth.passkeys.remove'],
      ...['auth.passkeys.rename', 'auth.passkeys.set_seed', 'auth.patch_password'],
      ...['auth.prelogin', 'auth.recover', 'auth.recover.begin', 'auth.recovery.replace'],
      ...['auth.refresh', 'auth.sessions.revoke'],
    ],
    'figures of the whole server, computed from stored data': ['metrics.compute'],
    'it changes nothing and is in the delivery log': ['notice_targets.test'],
  })
})

test('an endpoint without a reason must record, unless a token calls it: the trail has those', () => {
  const exempt = namesOf((endpoint) => !mustRecord(endpoint))
  const reasoned = namesOf(({ unrecorded }) => unrecorded !== undefined)
  const ofTokens = namesOf(({ access }) => access.kind === 'token')
  expect(exempt).toEqual([...reasoned, ...ofTokens].sort())
})
