// tier: all
/**
 * Every answer is bounded in bytes (protocol 2): a walk of all contracts that read, over a workspace that holds many of
 * everything. What strangers can add, and products of two numbers, must not make an answer grow.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { allEndpoints } from '../../src/dev/all_endpoints.ts'
import { login } from '../../src/features/accounts/contract.ts'
import { listAgentTokens } from '../../src/features/agents/contract.ts'
import { createProject, showCoverage } from '../../src/features/projects/contract.ts'
import { listWorkspacesEndpoint } from '../../src/features/workspaces/contract.ts'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import { quotas } from '../../src/platform/quotas.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { type Person, registerPerson } from '../support/people.ts'

/** A third of what clients read of any answer (16 MiB), and far above what a page of these takes. */
const MOST_BYTES = 5 * 1_048_576
/** The longest page, and the longest list of names in an answer that is none. */
const MOST_ENTRIES = 1_000

const INVITATIONS = 1_000
const KEYS = 400

let app: TestApp
let owner: Person
let guest: Person
let params: Record<string, string>

beforeAll(async () => {
  app = await sharedApp()
  await registerPerson(app, 'first')
  owner = await registerPerson(app, 'owner')
  guest = await registerPerson(app, 'guest')
  const { workspaceId } = owner
  const { id: projectId } = await owner.api.call(createProject, {
    body: { name: 'large', workspace_id: workspaceId },
  })
  const agent = Bun.randomUUIDv7()
  params = {
    workspace_id: workspaceId,
    project_id: projectId,
    project: projectId,
    project_name: 'large',
    registration_id: agent,
    key: 'KEY_1',
    environment: 'development',
    email: owner.email,
    member: owner.userId,
  }
  await fill({ workspaceId, projectId, agent })
}, 60_000)

async function fill({
  workspaceId,
  projectId,
  agent,
}: Record<'workspaceId' | 'projectId' | 'agent', string>) {
  const { sql } = app.connection
  const bytes = Buffer.alloc(64)
  const environments = quotas.environments.most - 3
  await sql`insert into secrets (id, workspace_id, project_id, environment, key, value)
    select gen_random_uuid(), ${workspaceId}, ${projectId}, env, 'KEY_' || k, ${bytes}
    from (select 'e' || n as env from generate_series(1, ${environments}::int) n union all select 'development') as envs,
      generate_series(1, ${KEYS}::int) k`
  await sql`insert into workspaces (id, name, type)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, repeat('w', 100), 'shared' from generate_series(1, ${INVITATIONS}::int) n`
  await sql`insert into memberships (id, workspace_id, user_id, role, status, encrypted_workspace_key)
    select gen_random_uuid(), ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, person::uuid, 'member', 'invited', ${bytes}
    from generate_series(1, ${INVITATIONS}::int) n, (values (${owner.userId}), (${guest.userId})) as people(person)`
  await sql`insert into agents (id, workspace_id, name) values (${agent}, ${workspaceId}, 'bot')`
  await sql`insert into tokens (id, workspace_id, kind, agent_id, label, capabilities, verifier, public_key)
    select ('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, ${workspaceId}, 'agent', ${agent}, 'ci', '["use"]', ${bytes}, ${bytes}
    from generate_series(1, 500) n`
  await sql`insert into token_envelopes (token_id, workspace_id, project_id, environment, epoch, envelope, statement, signature)
    select ('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, ${workspaceId}, ${projectId}, 'e' || e, 1, ${bytes}, repeat('s', 700), ${bytes}
    from generate_series(1, 500) n, generate_series(1, 30) e`
  await sql`insert into allowlist_entries (id, workspace_id, domain)
    select gen_random_uuid(), ${workspaceId}, n || '.' || repeat('d', 60) || '.example.com' from generate_series(1, ${quotas.hosts.most}::int) n`
  await sql`insert into audit_logs (id, workspace_id, timestamp, source, identity_level, agent_id, method, target_domain, target_url, credential_ref, injection_style, decision)
    select gen_random_uuid(), ${workspaceId}, now() - n * interval '1 second', 'client', 'agent', 'bot-' || n, 'POST', n || '.example.com',
      'https://' || n || '.example.com/' || repeat('p', 100), 'KEY_1,OTHER_' || n, 'header,header', 'allowed' from generate_series(1, 3000) n`
}

/** Queries that some contracts demand. */
const QUERIES: Record<string, Record<string, string>> = {
  'projects.diff': { from: 'development', to: 'e1' },
  'audit.calls': { credential: 'KEY_1', since: '7d' },
}

/** Contracts whose answer is a stream, a file, or needs a resource that this store has not. */
const reading = allEndpoints()
  .flatMap(({ surface, endpoints }) => (surface === 'control-plane' ? endpoints : []))
  .filter(
    ({ method, access, mediaType, raw }: Endpoint & { raw?: unknown }) =>
      method === 'GET' && !mediaType && !raw && ['member', 'session'].includes(access.kind),
  )

async function read(endpoint: Endpoint): Promise<{ status: number; text: string }> {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(params[name] ?? Bun.randomUUIDv7()),
  )
  const named =
    endpoint.path.includes('{workspace_id}') || endpoint.path.includes('{project')
      ? {}
      : { workspace_id: params.workspace_id ?? '' }
  const query = { ...named, ...(endpoint.paged ? { limit: '500' } : {}), ...QUERIES[endpoint.name] }
  const search = endpoint.query ? `?${new URLSearchParams(query)}` : ''
  const response = await fetch(`${app.controlPlane}${path}${search}`, {
    headers: { authorization: `Bearer ${owner.token}` },
  })
  return { status: response.status, text: await response.text() }
}

function longestArray(value: unknown): number {
  if (Array.isArray(value)) return Math.max(value.length, ...value.map(longestArray))
  if (value === null || typeof value !== 'object') return 0
  return Math.max(0, ...Object.values(value).map(longestArray))
}

describe('an answer stays within its bounds', () => {
  test.each(reading.map((endpoint) => [endpoint.name, endpoint] as const))(
    '%s',
    async (_, endpoint) => {
      const { status, text } = await read(endpoint)
      // 422: the ciphertexts are not sealed.
      expect([200, 403, 404, 422]).toContain(status)
      expect(text.length).toBeLessThan(MOST_BYTES)
      expect(longestArray(JSON.parse(text))).toBeLessThanOrEqual(MOST_ENTRIES)
    },
  )

  test('and most of the walk finds what it reads', async () => {
    const statuses = await Promise.all(
      reading.map(async (endpoint) => [endpoint.name, (await read(endpoint)).status] as const),
    )
    const found = statuses.filter(([, status]) => status === 200).map(([name]) => name)
    for (const name of [
      'projects.coverage',
      'projects.diff',
      'projects.environments',
      'agents.tokens.list',
      'audit.summary',
      'audit.calls',
      'workspaces.list',
      'secrets.list',
    ])
      expect(found).toContain(name)
  })
})

test('a log-in answers active workspaces only, whatever strangers invited to', async () => {
  const { email, password } = owner
  const answer = await app.as().call(login, { body: { email, password } })
  expect(answer.workspaces.map(({ id }) => id)).toEqual([owner.workspaceId])
  const all = await owner.api.list(listWorkspacesEndpoint, {})
  expect(all.filter(({ status }) => status === 'invited')).toHaveLength(INVITATIONS)
})

test('pages that end early lose no token', async () => {
  const { workspace_id = '', registration_id = '' } = params
  const listed = await owner.api.list(listAgentTokens, {
    params: { workspace_id, registration_id },
  })
  expect(new Set(listed.map(({ id }) => id)).size).toBe(500)
  expect(listed.every(({ provisioned }) => provisioned.length === 30)).toBe(true)
})

test('coverage lists each name once over its pages', async () => {
  const names = new Set<string>()
  let cursor: string | null = null
  do {
    const query: { limit: number; cursor?: string } = {
      limit: 150,
      ...(cursor === null ? {} : { cursor }),
    }
    const { data, next } = await owner.api.page(showCoverage, {
      params: { project_id: params.project_id ?? '' },
      query,
    })
    for (const { key } of data.keys) names.add(key)
    cursor = next
  } while (cursor !== null)
  expect(names.size).toBe(KEYS)
})

test('an account with many invitations is deleted, and each is declined on record', async () => {
  const body = { current_password: guest.password }
  const answer = await app.call('POST', '/api/auth/delete-account/', { token: guest.token, body })
  expect(answer.status).toBe(200)
  await app.flushAudit()
  const [declined] = await app.connection.sql`
    select count(*)::int as rows from audit_logs where user_id = ${guest.userId} and action = 'member.declined'`
  const [rekeys] = await app.connection.sql`
    select count(*)::int as rows from workspaces where id::text like '00000000-0000-7000-8000-%' and rekey_required`
  expect([declined?.rows, rekeys?.rows]).toEqual([INVITATIONS, INVITATIONS])
})
