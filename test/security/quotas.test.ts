// tier: all
/**
 * Every stored quantity has a quota (protocol 11). Real requests fill each quota of the table; the next one is refused with
 * the limit and its setting, and stores nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { describeConfig } from '../../src/core/config/config.ts'
import { hourlyQuotas, quotas } from '../../src/core/config/quotas.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { OWN } from '../features/passkeys/support.ts'
import { type Answer, startTestApp, type TestApp, UNLIMITED } from '../support/app.ts'
import { ORIGIN, openPasskey } from '../support/authenticator.ts'
import { contentOf } from '../support/failure.ts'
import { envelopeFor, type Person, registerPerson } from '../support/people.ts'
import { openProject, type ProjectTeam } from '../support/project.ts'
import { ciphertext, envelope } from './matrix_world.ts'

const table = { ...quotas, ...hourlyQuotas }
type Name = keyof typeof table

/** Small ones that few requests reach, and above the needs of other quotas' steps. */
const MOST: Record<Name, number> = {
  members: 4,
  projects: 3,
  hosts: 3,
  agents: 3,
  liveTokens: 5,
  environments: 5,
  secrets: 3,
  tokenEnvelopes: 2,
  noticeTargets: 2,
  workspaces: 4,
  passkeys: 1,
  sessions: 3,
  invitations: 2,
  sentInvitations: 7,
  created: 14,
}

let app: TestApp
let team: ProjectTeam
let owner: Person
let counter = 0
const unique = (prefix: string) => {
  counter += 1
  return `${prefix}${counter}`
}

beforeAll(async () => {
  const settings = Object.entries(table).map(([name, { setting }]) => [
    setting,
    String(MOST[name as Name]),
  ])
  app = await startTestApp({
    ...UNLIMITED,
    PASSKEY_ORIGINS: ORIGIN,
    ...Object.fromEntries(settings),
  })
})
afterAll(() => app.stop())

const endpoints = listAllEndpoints().flatMap((surface) => surface.endpoints)

/** A request that adds one more, by the contract's name; the first rejected one is beyond the quota. */
type Adding = { endpoint: string; add: () => Promise<Answer> }

const post = (path: string, body: unknown, token = owner.token) =>
  app.call('POST', path, { token, body })
const inWorkspace = (rest: string) => `/api/workspaces/${team.workspaceId}/${rest}`
const newAgent = async () => {
  const { body } = await post(inWorkspace('agents/'), { name: unique('bot') })
  return (body as { data: { agent: { id: string }; token_id: string } }).data
}

async function invite(person: Person, workspaceId = team.workspaceId, by = owner): Promise<Answer> {
  const place = { workspaceId, workspaceKey: team.workspaceKey }
  const encrypted_workspace_key = await envelopeFor(person, place)
  const body = { email: person.email, role: 'member', encrypted_workspace_key }
  return post(`/api/workspaces/${workspaceId}/members/`, body, by.token)
}

async function found(person: Person): Promise<{ id: string; answer: Answer }> {
  const id = Bun.randomUUIDv7()
  const place = { workspaceId: id, workspaceKey: team.workspaceKey }
  const encrypted_workspace_key = await envelopeFor(person, place)
  const answer = await post(
    '/api/workspaces/',
    { id, name: 'Team', encrypted_workspace_key },
    person.token,
  )
  return { id, answer }
}

/** Stores one secret under a new name. */
const store = (environment: string) =>
  post('/api/secrets/', {
    project_id: team.projectId,
    environment,
    secrets: { [unique('KEY_')]: ciphertext },
  })

const steps: Record<Name, () => Promise<Adding[]> | Adding[]> = {
  members: () => [
    { endpoint: 'members.invite', add: async () => invite(await registerPerson(app)) },
  ],
  projects: () => [
    {
      endpoint: 'projects.create',
      add: () => post('/api/projects/', { name: unique('p'), workspace_id: team.workspaceId }),
    },
  ],
  hosts: () => [
    {
      endpoint: 'allowlist.add',
      add: () => post(inWorkspace('allowlist/'), { domain: `${unique('api')}.example.com` }),
    },
  ],
  agents: () => [
    {
      endpoint: 'agents.register',
      add: () => post(inWorkspace('agents/'), { name: unique('bot') }),
    },
  ],
  liveTokens: async () => {
    const { agent } = await newAgent()
    return [
      {
        endpoint: 'agents.tokens.issue',
        add: () => post(inWorkspace(`agents/${agent.id}/tokens/`), {}),
      },
      {
        endpoint: 'workload_tokens.issue',
        add: () =>
          post(`/api/projects/${team.projectId}/workload-tokens/`, {
            label: unique('ci'),
            environment: 'staging',
          }),
      },
    ]
  },
  environments: () => [
    {
      endpoint: 'projects.environments.create',
      add: () => post(`/api/projects/${team.projectId}/environments/`, { name: unique('e') }),
    },
    { endpoint: 'secrets.upsert', add: () => store(unique('e')) },
  ],
  secrets: () => [{ endpoint: 'secrets.upsert', add: () => store('staging') }],
  tokenEnvelopes: async () => {
    const { agent, token_id } = await newAgent()
    const path = inWorkspace(`agents/${agent.id}/tokens/${token_id}/envelopes/`)
    return [
      {
        endpoint: 'agents.tokens.provision',
        add: () => {
          const grant = { project_id: team.projectId, environment: unique('e'), epoch: 1, envelope }
          return app.call('PUT', path, { token: owner.token, body: [grant] })
        },
      },
    ]
  },
  noticeTargets: () => [
    {
      endpoint: 'notice_targets.create',
      add: () =>
        post(inWorkspace('notice-targets/'), {
          type: 'webhook',
          url: 'https://hooks.example.com/',
          events: ['rekey.due'],
        }),
    },
  ],
  workspaces: () => [
    { endpoint: 'workspaces.create', add: async () => (await found(owner)).answer },
  ],
  passkeys: () => [
    {
      endpoint: 'auth.passkeys.begin',
      add: async () => {
        const body = { current_password: owner.password, origin: ORIGIN }
        const begun = await post(`${OWN}begin/`, body)
        if (begun.status !== 200) return begun
        const { challenge } = (begun.body as { data: { challenge: string } }).data
        const key = await openPasskey()
        return post(OWN, { label: 'Key', credential: key.create(challenge) })
      },
    },
  ],
  sessions: () => {
    const { email, password } = owner
    return [
      {
        endpoint: 'auth.login',
        add: () => app.call('POST', '/api/auth/login/', { body: { email, password } }),
      },
    ]
  },
  invitations: async () => {
    const invited = await registerPerson(app)
    return [
      {
        endpoint: 'members.invite',
        add: async () => {
          const other = await openProject(app)
          return invite(invited, other.workspaceId, other.owner)
        },
      },
    ]
  },
  sentInvitations: async () => {
    const invited = await registerPerson(app)
    // Each replaces the previous one, so that only sent data is counted.
    return [{ endpoint: 'members.invite', add: () => invite(invited) }]
  },
  created: async () => {
    const { agent } = await newAgent()
    return [
      {
        endpoint: 'projects.create',
        // Deleted immediately, so that no other quota is reached: only the project's id remains.
        add: async () => {
          const body = { name: unique('p'), workspace_id: team.workspaceId }
          const answer = await post('/api/projects/', body)
          if (answer.status !== 201) return answer
          const { id } = (answer.body as { data: { id: string } }).data
          const { token } = owner
          expect((await app.call('DELETE', `/api/projects/${id}/`, { token })).status).toBe(200)
          return answer
        },
      },
      { endpoint: 'workspaces.create', add: async () => (await found(owner)).answer },
      {
        endpoint: 'agents.register',
        add: () => post(inWorkspace('agents/'), { name: unique('bot') }),
      },
      {
        endpoint: 'agents.tokens.issue',
        add: () => post(inWorkspace(`agents/${agent.id}/tokens/`), {}),
      },
      {
        endpoint: 'workload_tokens.issue',
        add: () =>
          post(`/api/projects/${team.projectId}/workload-tokens/`, {
            label: unique('ci'),
            environment: 'staging',
          }),
      },
    ]
  },
}

describe.each(Object.keys(table) as Name[])('the quota of %s', (name) => {
  const { setting, what, per } = table[name]
  let adding: Adding[]

  beforeAll(async () => {
    team = await openProject(app)
    owner = team.owner
    adding = await steps[name]()
  })

  test('a quota is reached by requests, and rejects the next ones, which store nothing', async () => {
    await fill(name, adding)
    for (const { add } of adding) {
      const before = PREPARES.has(name) ? null : await contentOf(app)
      const { status, body } = await add()
      const message = `${per.slice(2)} has at most ${MOST[name]} ${what} (${setting}).`
      expect({ status, body }).toMatchObject({
        status: 409,
        body: {
          error_code: 'quota_exceeded',
          message: expect.stringContaining(message),
          fix: { setting },
        },
      })
      if (before) expect(await contentOf(app)).toEqual(before)
    }
    if (name in quotas)
      expect(await mostStored(name as keyof typeof quotas)).toBeLessThanOrEqual(MOST[name])
  })

  test('a quota is a setting with the default of the protocol, and part of a contract', () => {
    const described = describeConfig().find((each) => each.name === setting)
    expect(described).toMatchObject({
      fallback: String(table[name].most),
      about: expect.stringContaining(what),
    })
    const naming = endpoints
      .filter((endpoint) => endpoint.quotas?.includes(name))
      .map((endpoint) => endpoint.name)
    for (const { endpoint } of adding) expect(naming).toContain(endpoint)
  })
})

/** IDs of these are remembered after deletion (protocol 5.1), so each creation counts. */
test('every endpoint that creates a resource with a remembered ID counts it', () => {
  const remembered = ['workspaces', 'projects', 'agents', 'liveTokens'] as const
  const creating = endpoints.filter(
    ({ method, quotas: own, success }) =>
      method === 'POST' && success === 201 && remembered.some((name) => own?.includes(name)),
  )
  expect(creating.map(({ name }) => name)).toContain('workload_tokens.issue')
  for (const { name, quotas: own } of creating)
    expect([name, own]).toEqual([name, expect.arrayContaining(['created'])])
})

test('an agent counts twice, because its own id and that of its first token are remembered', async () => {
  const roomBeside = async (agents: number): Promise<number> => {
    team = await openProject(app)
    owner = team.owner
    for (let count = 0; count < agents; count += 1) await newAgent()
    return await fill('created', await steps.created())
  }
  const room = await roomBeside(0)
  expect(await roomBeside(1)).toBe(room - 2)
})

/** Their requests need another person or workspace first; `mostStored` shows that nothing was stored beyond. */
const PREPARES = new Set<Name>(['members', 'invitations'])

/**
 * Adds by the first kind of request until one is rejected, which must happen after at least one that was not. Returns
 * the number added.
 */
async function fill(name: Name, [first]: readonly Adding[]): Promise<number> {
  let stored = 0
  while (((await first?.add())?.status ?? 500) < 300) {
    stored += 1
    expect(stored).toBeLessThanOrEqual(MOST[name])
  }
  expect(stored).toBeGreaterThan(0)
  return stored
}

/** The highest count of one owner in the whole database. */
async function mostStored(name: keyof typeof quotas): Promise<number> {
  const quota = quotas[name]
  const columns = quota.by.join(', ')
  const which = 'which' in quota ? `where ${quota.which}` : ''
  const [row] = await app.connection.sql.unsafe(
    `select coalesce(max(rows), 0)::int as most from (select count(*) as rows from ${quota.rows} as counted ${which} group by ${columns}) as places`,
  )
  return row?.most
}

test('a person with twenty concurrent requests gets no more workspaces than the quota', async () => {
  const limited = await startTestApp({ ...UNLIMITED, QUOTA_WORKSPACES: '4' })
  const person = await registerPerson(limited)
  const create = async () => {
    const id = Bun.randomUUIDv7()
    const encrypted_workspace_key = await envelopeFor(person, {
      workspaceId: id,
      workspaceKey: new Uint8Array(32),
    })
    const body = { id, name: 'Team', encrypted_workspace_key }
    return (await limited.call('POST', '/api/workspaces/', { token: person.token, body })).status
  }
  const statuses = await Promise.all(Array.from({ length: 20 }, create))
  const [row] = await limited.connection.sql`select count(*)::int as active from memberships
    where user_id = ${person.userId} and status = 'active'`
  expect(row?.active).toBe(4)
  expect(statuses.filter((status) => status === 201)).toHaveLength(3)
  await limited.stop()
})
