// tier: quick
/**
 * An ID is used once (protocol 5.1): a stranger who creates a workspace under the ID of a deleted one would read its
 * audit, and one who creates a token under the ID of a revoked one would make it valid again.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { toBase64 } from '../../src/core/crypto/encoding.ts'
import { mintToken, tokenAuth, verifierOf } from '../../src/core/crypto/token.ts'
import { agents, projects, tokens, workspaces } from '../../src/database/schema/index.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import {
  createProject,
  deleteProjectShort,
  restoreProject,
} from '../../src/features/projects/contract.ts'
import { type Answer, sharedApp, type TestApp } from '../support/app.ts'
import { databaseKind } from '../support/database.ts'
import {
  envelopeFor,
  newApplicant,
  type Person,
  registerPerson,
  registrationOf,
} from '../support/people.ts'
import { firstLink, type SignedPerson, signedAccount, signedWorkspace } from '../support/signed.ts'
import { openTeam } from '../support/teams.ts'
import { until } from '../support/until.ts'

let app: TestApp
let stranger: SignedPerson
/** The stranger's project, agent, and signed workspace. */
let place: { projectId: string; agentId: string; signedId: string }

beforeAll(async () => {
  app = await sharedApp()
  // The first account owns the installation and cannot be deleted.
  await registerPerson(app, 'owner')
  stranger = await signedAccount(app, 'stranger')
  const { id: projectId } = await stranger.api.call(createProject, {
    body: { name: 'main', workspace_id: stranger.workspaceId },
  })
  const agent = await as(stranger, 'POST', `/api/workspaces/${stranger.workspaceId}/agents/`, {
    name: 'bot',
  })
  const { workspaceId: signedId } = await signedWorkspace(app, stranger)
  place = { projectId, agentId: dataOf(agent).agent.id, signedId }
})

function as({ token }: { token: string }, method: string, path: string, body?: unknown) {
  return app.call(method, path, { token, ...(body === undefined ? {} : { body }) })
}

function dataOf(answer: Answer) {
  return (answer.body as { data: { id: string; token_id: string; agent: { id: string } } }).data
}

type Kind = 'workspace' | 'account' | 'agent' | 'token'

const verifierField = toBase64(randomBytes(32))
const clientMade = (id: string) => ({
  id,
  verifier: verifierField,
  public_key: toBase64(stranger.publicKey),
})
let names = 0
function newName(): string {
  names += 1
  return `name-${names}`
}

/** Every request field in which a client chooses an ID, with the request in which a stranger chooses a used one. */
const CHOSEN: Record<
  string,
  { kind: Kind; isSigned?: boolean; take(id: string): Promise<Answer> }
> = {
  'auth.register user_id': {
    kind: 'account',
    take: async (id) => register({ ...(await registrationOf(newApplicant())), user_id: id }),
  },
  'auth.register workspace.id': {
    kind: 'workspace',
    take: async (id) => register(await registrationOf({ ...newApplicant(), workspaceId: id })),
  },
  'workspaces.create id': {
    kind: 'workspace',
    take: async (id) => {
      const founded = { workspaceId: id, workspaceKey: new Uint8Array(32) }
      const isSigned = id[14] === '8'
      return as(stranger, 'POST', '/api/workspaces/', {
        id,
        name: 'Mine',
        encrypted_workspace_key: await envelopeFor(stranger, founded),
        ...(isSigned && { link: await firstLink(stranger, founded) }),
      })
    },
  },
  'agents.register id': {
    kind: 'agent',
    take: (id) =>
      as(stranger, 'POST', `/api/workspaces/${place.signedId}/agents/`, { id, name: newName() }),
  },
  'agents.register_in_project id': {
    kind: 'agent',
    // The workspace must be signed, because the function of agents.register creates the row.
    take: (id) =>
      as(stranger, 'POST', `/api/workspaces/${place.signedId}/agents/`, { id, name: newName() }),
  },
  'agents.register token.id': {
    kind: 'token',
    take: (id) =>
      ordered(`/api/workspaces/${stranger.workspaceId}/agents/`, id, { name: newName() }),
  },
  'agents.register_in_project token.id': {
    kind: 'token',
    take: (id) =>
      ordered(`/api/workspaces/${stranger.workspaceId}/projects/${place.projectId}/agents/`, id, {
        name: newName(),
      }),
  },
  'agents.tokens.issue token.id': {
    kind: 'token',
    take: (id) =>
      ordered(`/api/workspaces/${stranger.workspaceId}/agents/${place.agentId}/tokens/`, id, {}),
  },
  'workload_tokens.issue token.id': {
    kind: 'token',
    take: (id) =>
      ordered(`/api/projects/${place.projectId}/workload-tokens/`, id, {
        label: newName(),
        environment: 'development',
      }),
  },
}

/** Fields that name existing objects, authenticators' data, or a reported record, unique in its workspace only. */
const REFERS =
  /^audit\.record |(workspace_id|project_id|user_id|registration_id|token_id|credential\.id|access_key_id)$/

const register = (body: unknown) => app.call('POST', '/api/auth/register/', { body })
const ordered = (path: string, id: string, body: object) =>
  as(stranger, 'POST', path, { ...body, token: clientMade(id) })

test('each request field in which a client chooses an ID is tested here', () => {
  const fields = listAllEndpoints().flatMap(({ endpoints }) =>
    endpoints.flatMap(({ name, body }) =>
      body ? idFieldsOf(body).map((field) => `${name} ${field}`) : [],
    ),
  )
  const chosen = fields.filter((field) => field in CHOSEN || !REFERS.test(field))
  expect(chosen.sort()).toEqual(Object.keys(CHOSEN).sort())
})

type JsonSchema = { properties?: Record<string, JsonSchema>; $ref?: string } & Record<
  string,
  unknown
>

/** Paths of a body's fields named `id` or `…_id`. */
function idFieldsOf(body: z.ZodType): string[] {
  const root = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  const definitions = (root.$defs ?? {}) as Record<string, JsonSchema>
  const walk = (schema: JsonSchema, path: string): string[] => {
    if (schema.$ref) return walk(definitions[schema.$ref.split('/').at(-1) ?? ''] ?? {}, path)
    const below = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
      ...(/^(.*_)?id$/.test(name) ? [`${path}${name}`] : []),
      ...walk(inner, `${path}${name}.`),
    ])
    const branches = ['anyOf', 'oneOf', 'allOf'].flatMap(
      (key) => (schema[key] ?? []) as JsonSchema[],
    )
    const inner = [...branches, ...(schema.items ? [schema.items as JsonSchema] : [])]
    return [...below, ...inner.flatMap((each) => walk(each, path))]
  }
  return [...new Set(walk(root, ''))]
}

type Ids = Partial<Record<Kind, string[]>>

/** Every way in which rows with such IDs are deleted, by themselves or by a cascade. */
const DELETIONS: Record<string, () => Promise<Ids>> = {
  'a deleted workspace': async () => {
    const team = await openTeam(app)
    const { agentId, tokenId } = await createAgentAndToken(team.owner, team.workspaceId)
    expect((await as(team.owner, 'DELETE', `/api/workspaces/${team.workspaceId}/`)).status).toBe(
      200,
    )
    return { workspace: [team.workspaceId], agent: [agentId], token: [tokenId] }
  },
  'a deleted signed workspace': async () => {
    const founder = await signedAccount(app)
    const signed = await signedWorkspace(app, founder)
    const { workspaceId } = signed
    const [agentId, tokenId] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
    await insertAgent({ workspaceId, agentId, tokenId })
    const link = await signed.link('workspace.deleted', {})
    expect((await as(founder, 'DELETE', `/api/workspaces/${workspaceId}/`, { link })).status).toBe(
      200,
    )
    return { workspace: [workspaceId], agent: [agentId], token: [tokenId] }
  },
  'a deleted account with its personal workspace': async () => {
    const person = await registerPerson(app)
    const { agentId, tokenId } = await createAgentAndToken(person, person.workspaceId)
    const body = { current_password: person.password }
    expect((await as(person, 'POST', '/api/auth/delete-account/', body)).status).toBe(200)
    return {
      account: [person.userId],
      workspace: [person.workspaceId],
      agent: [agentId],
      token: [tokenId],
    }
  },
  'a deleted agent': async () => {
    const team = await openTeam(app)
    const { agentId, tokenId } = await createAgentAndToken(team.owner, team.workspaceId)
    const path = `/api/workspaces/${team.workspaceId}/agents/${agentId}/`
    expect((await as(team.owner, 'DELETE', path)).status).toBe(200)
    return { agent: [agentId], token: [tokenId] }
  },
  'a revoked token': async () => {
    const team = await openTeam(app)
    const { agentId, tokenId } = await createAgentAndToken(team.owner, team.workspaceId)
    const path = `/api/workspaces/${team.workspaceId}/agents/${agentId}/tokens/${tokenId}/`
    expect((await as(team.owner, 'DELETE', path)).status).toBe(200)
    return { token: [tokenId] }
  },
  'a deleted project with a workload token, then its workspace': async () => {
    const team = await openTeam(app)
    const body = { name: 'gone', workspace_id: team.workspaceId }
    const { id } = await team.owner.api.call(createProject, { body })
    const issued = await as(team.owner, 'POST', `/api/projects/${id}/workload-tokens/`, {
      label: 'ci',
      environment: 'development',
    })
    await team.owner.api.call(deleteProjectShort, { params: { project: id } })
    await as(team.owner, 'DELETE', `/api/workspaces/${team.workspaceId}/`)
    return { workspace: [team.workspaceId], token: [dataOf(issued).token_id] }
  },
  'rows deleted in the database': async () => {
    const [workspaceId, agentId, tokenId] = [
      Bun.randomUUIDv7(),
      Bun.randomUUIDv7(),
      Bun.randomUUIDv7(),
    ]
    await app.connection.db
      .insert(workspaces)
      .values({ id: workspaceId, name: 'Row', type: 'shared' })
    await insertAgent({ workspaceId, agentId, tokenId })
    const { userId } = await registerPerson(app)
    await app.connection.sql`delete from workspaces where id = ${workspaceId}`
    await app.connection.sql`delete from users where id = ${userId}`
    return { workspace: [workspaceId], account: [userId], agent: [agentId], token: [tokenId] }
  },
}

async function createAgentAndToken(owner: Person, workspaceId: string) {
  const answer = await as(owner, 'POST', `/api/workspaces/${workspaceId}/agents/`, { name: 'bot' })
  const { agent, token_id: tokenId } = dataOf(answer)
  return { agentId: agent.id, tokenId }
}

async function insertAgent({
  workspaceId,
  agentId,
  tokenId,
}: Record<'workspaceId' | 'agentId' | 'tokenId', string>) {
  const { db } = app.connection
  const bytes = new Uint8Array(32)
  await db.insert(agents).values({ id: agentId, workspaceId, name: agentId })
  const row = { workspaceId, agentId, kind: 'agent', capabilities: ['use'], label: 'ci' } as const
  await db.insert(tokens).values({ ...row, id: tokenId, verifier: bytes, publicKey: bytes })
}

describe.each(Object.entries(DELETIONS))('the IDs of %s', (_, remove) => {
  let ids: Ids
  beforeAll(async () => {
    ids = await remove()
  })

  test.each(Object.entries(CHOSEN))(
    'used IDs are rejected in %s',
    async (_field, { kind, take }) => {
      for (const id of ids[kind] ?? []) {
        const { status, body } = await take(id)
        expect({ status, body }).toMatchObject({
          status: 409,
          body: { error_code: 'already_exists' },
        })
      }
    },
  )
})

test('no data of a deleted workspace changes hands: audit, summary, export, calls, or a revoked token', async () => {
  const team = await openTeam(app)
  const { workspaceId } = team
  const minted = mintToken('agt')
  const token = {
    ...clientMade(minted.id),
    verifier: toBase64(verifierOf(tokenAuth(minted.id, minted.secret))),
  }
  const agentsPath = `/api/workspaces/${workspaceId}/agents/`
  expect((await as(team.owner, 'POST', agentsPath, { name: 'bot', token })).status).toBe(201)
  const seen = async () =>
    (
      await fetch(`${app.resolver}/v1/credentials/`, {
        headers: { authorization: `Bearer ${minted.text}` },
      })
    ).status
  expect(await seen()).toBe(200)
  await as(team.owner, 'DELETE', `/api/workspaces/${workspaceId}/`)
  expect(await seen()).toBe(401)
  const path = `/api/workspaces/${stranger.workspaceId}/agents/`
  expect((await as(stranger, 'POST', path, { name: 'thief', token })).status).toBe(409)
  expect(await seen()).toBe(401)
  expect((await CHOSEN['workspaces.create id']?.take(workspaceId))?.status).toBe(409)
  for (const list of ['logs', 'summary', 'calls', 'export']) {
    const { status } = await as(stranger, 'GET', `/api/audit/${list}/?workspace_id=${workspaceId}`)
    expect([list, status]).toEqual([list, 404])
  }
})

describe('a deleted project', () => {
  test('a deleted project is restored under its ID, in its workspace, more than once', async () => {
    const team = await openTeam(app)
    const { id } = await team.owner.api.call(createProject, {
      body: { name: 'kept', workspace_id: team.workspaceId },
    })
    for (const _ of [1, 2]) {
      await team.owner.api.call(deleteProjectShort, { params: { project: id } })
      const restored = await team.owner.api.call(restoreProject, { params: { project_id: id } })
      expect(restored.id).toBe(id)
    }
  })

  test('a deleted project gives its ID to no other workspace, whatever inserts the row', async () => {
    const team = await openTeam(app)
    const { id } = await team.owner.api.call(createProject, {
      body: { name: 'kept', workspace_id: team.workspaceId },
    })
    await team.owner.api.call(deleteProjectShort, { params: { project: id } })
    const row = { id, workspaceId: stranger.workspaceId, name: 'taken' }
    expect(await app.connection.db.insert(projects).values(row).returning()).toEqual([])
  })
})

describe('a request that waits for another with the same ID', () => {
  test('a waiting request is rejected if the other one used the ID and deleted it', async () => {
    const id = Bun.randomUUIDv7()
    const { sql } = app.connection
    let taking: Promise<Answer | undefined> | undefined
    await sql.begin(async (tx) => {
      await tx`insert into workspaces (id, name, type) values (${id}, 'First', 'shared')`
      taking = CHOSEN['workspaces.create id']?.take(id)
      if (databaseKind === 'postgresql')
        await until(
          async () =>
            (await tx`select 1 from pg_locks where locktype = 'transactionid' and not granted`)
              .length > 0,
        )
      await tx`delete from workspaces where id = ${id}`
    })
    const answer = await taking
    expect(answer).toMatchObject({ status: 409, body: { error_code: 'already_exists' } })
  })

  test('a waiting request is rejected if the other one deletes the ID meanwhile', async () => {
    const team = await openTeam(app)
    const { sql } = app.connection
    let taking: Promise<Answer | undefined> | undefined
    await sql.begin(async (tx) => {
      await tx`delete from workspaces where id = ${team.workspaceId}`
      taking = CHOSEN['workspaces.create id']?.take(team.workspaceId)
    })
    expect(await taking).toMatchObject({ status: 409, body: { error_code: 'already_exists' } })
  })

  test('one of many requests that create the same ID concurrently succeeds', async () => {
    const id = Bun.randomUUIDv7()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => CHOSEN['workspaces.create id']?.take(id)),
    )
    expect(answers.map((answer) => answer?.status).sort()).toEqual([201, ...Array(7).fill(409)])
  })
})
