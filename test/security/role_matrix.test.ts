// tier: quick
/**
 * Every endpoint × every caller. The expected answer follows from the contract's access and the matrix of protocol
 * 10; an endpoint without a row fails. A rejected caller has written nothing. `bun run test` checks a tenth of the
 * endpoints.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Capability } from '../../src/core/capability.ts'
import { type Role, roles } from '../../src/core/grant.ts'
import { matrix, permits, roleSentences } from '../../src/core/roles.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { getDocument, getPage, getScript, getStyle } from '../../src/features/reference/contract.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { forwardCalls } from '../../src/resolver/forwarding/contract.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Collector, startCollector } from '../support/collector.ts'
import type { Person } from '../support/people.ts'
import { sample } from '../support/sample.ts'
import { type Request, type Row, rows, type Scene } from './matrix_rows.ts'
import { slotsOf, withSlot } from './matrix_slots.ts'
import {
  buildWorld,
  type CallerName,
  callers,
  ciphertext,
  envelope,
  fingerprint,
  people,
  type World,
} from './matrix_world.ts'

const surfaces = [
  ...listAllEndpoints(),
  { surface: 'control-plane' as const, endpoints: [getPage, getDocument, getScript, getStyle] },
]
const endpoints = surfaces.flatMap(({ surface, endpoints }) =>
  endpoints.map((endpoint) => ({ surface, endpoint: endpoint as Endpoint })),
)

const sampled = sample('role matrix', endpoints)

let app: TestApp
/** The collector of traces for all requests here. */
let collector: Collector
let world: World
let other: World

beforeAll(async () => {
  const plenty = '1000000/1'
  collector = startCollector()
  app = await startTestApp({
    RATE_REGISTER: plenty,
    RATE_LOGIN: plenty,
    RATE_API: plenty,
    RATE_TOKEN: plenty,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
  })
  world = await buildWorld(app)
  other = await buildWorld(app, { isStaffed: false })
}, 60_000)
afterAll(async () => {
  await app.stop()
  await collector.stop()
})

const isPerson = (name: CallerName): name is (typeof people)[number] =>
  (people as readonly string[]).includes(name)
const isRole = (name: CallerName): name is Role => (roles as readonly string[]).includes(name)

function personOf(name: CallerName): Person {
  if (name === 'other_owner') return other.person.owner
  return isPerson(name) ? world.person[name] : world.person.owner
}

function tokenOf(name: CallerName): string | undefined {
  if (name === 'anonymous') return undefined
  if (name === 'agent_token') return world.agentToken
  if (name === 'reading_token') return world.readingToken
  return name === 'workload_token' ? world.workloadToken : personOf(name).token
}

/** The capabilities of the tokens; other callers are not tokens. */
const may: Partial<Record<CallerName, readonly Capability[]>> = {
  agent_token: ['use'],
  workload_token: ['use', 'read'],
  reading_token: ['read'],
}

/** Whether the endpoint accepts this kind of credential at all. */
function isKnown({ access }: Endpoint, name: CallerName): boolean {
  if (name === 'anonymous') return false
  const isToken = may[name] !== undefined
  return access.kind === 'token' ? isToken || access.orSession === true : !isToken
}

/** The status that a rejection must have, or `null` for an admitted caller. */
function expected(endpoint: Endpoint, row: Row, name: CallerName): number | null {
  const special = row.expect?.[name]
  if (special !== undefined) return special
  const { access } = endpoint
  if (access.kind === 'public') return null
  // Nobody here has CRON_SECRET, which is not set.
  if (access.kind === 'cron') return 404
  if (!isKnown(endpoint, name)) return 401
  if (access.kind === 'token') {
    const { capability } = access
    return capability && may[name]?.includes(capability) === false ? 403 : null
  }
  if (access.kind !== 'member') return null
  if (!isRole(name)) return 404
  return permits(name, access.permission) ? null : 403
}

function codeOf(status: number, name: CallerName): unknown {
  if (status === 401) return 'invalid_token'
  if (status === 404) return 'not_found'
  if (status === 403) return may[name] ? 'scope_required' : 'forbidden'
  return expect.any(String)
}

const isRefusedRole = (status: number, name: CallerName): name is Role =>
  status === 403 && isRole(name)

/** A rejection names the roles needed and the role held; a handler's own decision may need more than the matrix. */
function sentenceFor({ access }: Endpoint, held: Role): unknown {
  if (access.kind === 'session') return 'Only the server owner can call this.'
  const needed = access.kind === 'member' && !permits(held, access.permission)
  return needed
    ? roleSentences(matrix[access.permission], held)
    : expect.stringContaining(`Yours is ${held}.`)
}

async function send(
  { endpoint, surface }: { endpoint: Endpoint; surface: 'control-plane' | 'resolver' },
  { params = {}, query = {}, body, headers }: Request,
  token: string | undefined,
): Promise<{ status: number; text: string }> {
  const origin = surface === 'resolver' ? app.resolver : app.controlPlane
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const response = await fetch(`${origin}${path}?${new URLSearchParams(query)}`, {
    method: endpoint.method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  // An endless response counts as admitted once its head arrived.
  const isEndless = response.headers.get('content-type') === 'text/event-stream'
  if (isEndless) await response.body?.cancel()
  return { status: response.status, text: isEndless ? '' : await response.text() }
}

function rowOf({ name }: Endpoint): Row {
  const row = rows[name]
  if (!row) throw new Error(`${name} has no row in matrix_rows.ts`)
  return row
}

test('every endpoint has a row, and every row has an endpoint', () => {
  const names = [...new Set(endpoints.map(({ endpoint }) => endpoint.name))]
  expect(Object.keys(rows).sort()).toEqual(names.sort())
})

/** The table of protocol 10, once more, so that a contract cannot silently require less. */
const protocol = {
  everyone: [
    ...['workspaces.get', 'members.list', 'members.remove', 'allowlist.list', 'allowlist.log'],
    ...['projects.get', 'projects.get_short', 'projects.environments', 'projects.coverage'],
    ...['projects.diff', 'secrets.list', 'secrets.get', 'secrets.versions', 'secrets.deleted'],
    ...['audit.list', 'audit.get', 'audit.summary', 'audit.calls', 'audit.usage'],
    'attention.credentials',
    ...['approvals.list', 'approvals.get', 'proposals.list'],
    'audit.watch',
  ],
  writers: [
    ...['projects.create', 'projects.update', 'projects.update_short'],
    'projects.environments.create',
    ...['secrets.upsert', 'secrets.delete', 'secrets.restore', 'secrets.rollback'],
    ...['approvals.release', 'approvals.deny', 'approvals.revoke', 'proposals.close'],
  ],
  admins: [
    ...[
      'workspaces.rename',
      'workspaces.rekey',
      'secrets.derived',
      'members.invite',
      'members.change_role',
    ],
    ...['allowlist.add', 'allowlist.remove', 'allowlist.remove_log', 'audit.export'],
    ...['projects.delete', 'projects.delete_short', 'projects.restore'],
    'projects.environments.delete',
    ...['projects.invite', 'projects.invite_by_name'],
    ...['agents.register', 'agents.register_in_project', 'agents.list', 'agents.list_in_project'],
    'attention.tokens',
    ...['agents.get', 'agents.delete', 'agents.tokens.issue', 'agents.tokens.list'],
    ...['agents.tokens.revoke', 'agents.tokens.provision', 'agents.tokens.unprovision'],
    ...['agents.tokens.grant', 'workload_tokens.grant'],
    ...['workload_tokens.issue', 'workload_tokens.list', 'workload_tokens.revoke'],
    ...['workload_tokens.provision', 'workload_tokens.unprovision'],
    ...['notice_targets.list', 'notice_targets.create', 'notice_targets.delete'],
    ...['notice_targets.test', 'notices.list'],
  ],
  owners: ['workspaces.delete'],
}
const allowedRoles: Record<keyof typeof protocol, readonly Role[]> = {
  everyone: ['owner', 'admin', 'member', 'read_only'],
  writers: ['owner', 'admin', 'member'],
  admins: ['owner', 'admin'],
  owners: ['owner'],
}
/** Everything else that needs no role. */
const roleless = {
  public: [
    ...['health.get', 'health.status', 'health.resolver'],
    'instance.get',
    ...['docs.page', 'docs.document', 'docs.script', 'docs.style'],
    ...['auth.prelogin', 'auth.register', 'auth.login', 'auth.refresh'],
    ...['auth.recover.begin', 'auth.recover', 'auth.passkey_login.begin', 'auth.passkey_login'],
  ],
  'page of the console': [
    ...['auth.console.login', 'auth.console.refresh', 'auth.console.passkey_login'],
  ],
  session: [
    ...['auth.logout', 'auth.change_password', 'auth.patch_password', 'auth.recovery.replace'],
    ...['auth.delete_account', 'auth.passkeys.list', 'auth.passkeys.begin', 'auth.passkeys.add'],
    ...['auth.passkeys.rename', 'auth.passkeys.remove', 'auth.passkeys.seed'],
    'auth.passkeys.set_seed',
    ...['auth.sessions.list', 'auth.sessions.revoke', 'users.me', 'users.public_key'],
    'users.replace_keys',
    ...['workspaces.list', 'workspaces.create', 'workspaces.accept', 'workspaces.decline'],
    ...['links.list', 'projects.list', 'metrics.list', 'instance.report'],
  ],
  'token that may use': [
    ...forwardCalls.map(({ name }) => name),
    ...['resolver.resolve', 'resolver.allowlist', 'resolver.credentials', 'resolver.shapes'],
    ...['resolver.approval', 'resolver.propose', 'resolver.proposal'],
    'audit.record',
  ],
  'any token': ['workloads.token'],
  'token that may read': ['workloads.env', 'workloads.version', 'links.list_for_token'],
  cron: ['metrics.compute'],
}

function askedBy(access: Endpoint['access']): string {
  if (access.kind === 'token')
    return access.capability ? `token that may ${access.capability}` : 'any token'
  if (access.kind === 'public' && access.console) return 'page of the console'
  if (access.kind !== 'member') return access.kind
  return roles.filter((role) => permits(role, access.permission)).join()
}

test('every contract requires the access that the protocol states', () => {
  const said: Record<string, string> = {}
  for (const [kind, names] of Object.entries(roleless)) for (const name of names) said[name] = kind
  for (const [who, names] of Object.entries(protocol))
    for (const name of names) said[name] = allowedRoles[who as keyof typeof protocol].join()
  const asked = endpoints.map(({ endpoint: { name, access } }) => [name, askedBy(access)])
  expect(Object.fromEntries(asked)).toEqual(said)
})

describe.each(sampled.map((served) => [served.endpoint.name, served] as const))(
  '%s',
  (_, served) => {
    const { endpoint } = served
    const sceneOf = (name: CallerName): Scene => ({ world, caller: personOf(name), name })

    test('an endpoint answers every caller who is allowed', async () => {
      const row = rowOf(endpoint)
      const through = row.through ?? [200, 201]
      const allowed = callers.filter((name) => expected(endpoint, row, name) === null)
      for (const name of allowed) {
        const request = await row.request(sceneOf(name))
        const token = name === 'anonymous' ? undefined : (request.token ?? tokenOf(name))
        const { status, text } = await send(served, request, token)
        expect({ name, status, text, through: through.includes(status) }).toMatchObject({
          through: true,
        })
      }
    })

    test('an endpoint rejects every other caller, who writes nothing', async () => {
      const row = rowOf(endpoint)
      const denied = callers.filter((name) => expected(endpoint, row, name) !== null)
      const requests = new Map<CallerName, Request>()
      for (const name of denied) requests.set(name, await row.request(sceneOf(name)))
      const before = await fingerprint(world)
      const got: Partial<Record<CallerName, unknown>> = {}
      for (const name of denied) {
        const { status, text } = await send(served, requests.get(name) ?? {}, tokenOf(name))
        const { error_code, message } = JSON.parse(text)
        got[name] = [status, error_code, ...(isRefusedRole(status, name) ? [message] : [])]
      }
      const refusals = denied.map((name) => {
        const status = expected(endpoint, row, name) ?? 0
        const sentence = isRefusedRole(status, name) ? [sentenceFor(endpoint, name)] : []
        return [name, [status, codeOf(status, name), ...sentence]]
      })
      expect(got).toEqual(Object.fromEntries(refusals))
      expect(await fingerprint(world)).toEqual(before)
    })

    if (endpoint.access.kind === 'member' || endpoint.access.kind === 'session') {
      test('an endpoint answers 404 for an ID of another workspace, alone or in a list', async () => {
        const row = rowOf(endpoint)
        const foreign = await row.request({
          world: other,
          caller: other.person.owner,
          name: 'owner',
        })
        const own = await row.request(sceneOf('owner'))
        for (const slot of slotsOf(own, foreign)) {
          // If a foreign ID is not rejected, the request has its effect, so each needs a fresh one.
          const fresh = await row.request(sceneOf('owner'))
          const request = withSlot(fresh, slot, foreign)
          const before = await fingerprint(world)
          const { status, text } = await send(served, request, tokenOf('owner'))
          const special = row.slots?.[slot.name]
          expect({ slot: slot.name, status, text }).toMatchObject({
            status: special?.status ?? 404,
          })
          if (!special) {
            expect({ slot: slot.name, state: await fingerprint(world) }).toEqual({
              slot: slot.name,
              state: before,
            })
          }
        }
      })
    }
  },
)

test('an audit filter with a project of another workspace finds nothing', async () => {
  const query = `workspace_id=${world.workspaceId}&project_id=${other.projectId}`
  const token = world.person.owner.token
  const listed = await app.call('GET', `/api/audit/logs/?${query}`, { token })
  expect(listed.body).toMatchObject({ data: [] })
})

test('a foreign workspace in the header or the query is 404', async () => {
  const { token } = world.person.owner
  const named = endpoints.filter(
    ({ endpoint: { access } }) =>
      access.kind === 'member' && (access.tenant === 'active' || access.tenant === 'path.project'),
  )
  expect(named.length).toBeGreaterThan(0)
  for (const { endpoint } of sample('foreign workspaces', named)) {
    const row = rowOf(endpoint)
    const { params = {}, body } = await row.request({
      world,
      caller: world.person.owner,
      name: 'owner',
    })
    const byName = 'project' in params ? { project: other.projectName } : {}
    const path = endpoint.path.replace('{project}', byName.project ?? '')
    const headers = { 'x-workspace-id': other.workspaceId }
    const inHeader = await app.call(endpoint.method, path, { token, body, headers })
    expect({ name: endpoint.name, status: inHeader.status }).toEqual({
      name: endpoint.name,
      status: 404,
    })
    const inQuery = `${path}?workspace_id=${other.workspaceId}`
    expect((await app.call(endpoint.method, inQuery, { token, body })).status).toBe(404)
  }
})

test('traces of these requests contain no token, password, key or email address', async () => {
  await app.tracer?.flush()
  const names = new Set(collector.spans.map(({ name }) => name))
  const known = sampled.filter(({ endpoint }) => endpoint.access.kind === 'member')
  for (const { endpoint } of known) expect(names).toContain(`${endpoint.method} ${endpoint.path}`)
  const secrets = [world, other].flatMap(({ person, ...its }) => [
    ...[its.agentToken, its.workloadToken, its.readingToken, its.secretKey, its.projectName],
    ...Object.values(person).flatMap((one) => [one.token, one.refresh, one.password, one.email]),
  ])
  const sent = collector.requests.map(({ text }) => text).join('\n')
  for (const secret of [...secrets, envelope, ciphertext])
    expect({ secret, sent: sent.includes(secret) }).toEqual({ secret, sent: false })
  expect(sent.match(/svc_[a-z]{3}_|bearer |@/i)).toBeNull()
})
