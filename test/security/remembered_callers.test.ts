// tier: quick, both databases in test:all
/**
 * The server caches a caller with their role. Here one of both changes without any notice, the way another process
 * would change it: the next request is rejected, returns nothing, changes nothing, and leaves no record.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseToken } from '../../src/core/crypto/token.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { getSecret, upsertSecrets } from '../../src/features/secrets/contract.ts'
import { type Answer, sharedApp, type TestApp } from '../support/app.ts'
import type { Person } from '../support/people.ts'
import { openProject, type ProjectTeam } from '../support/project.ts'

let app: TestApp

beforeAll(async () => {
  app = await sharedApp()
}, 60_000)
afterAll(() => app.stop())

type Scene = { team: ProjectTeam; person: Person }
type Case = {
  title: string
  change(scene: Scene): Promise<unknown>
  /** The expected statuses of the person's read and write. */
  expected: [read: number, write: number]
}

const sql = () => app.connection.sql
const idOf = ({ token }: Person) => parseToken(token)?.id ?? ''

const cases: Case[] = [
  { title: 'nothing', change: async () => {}, expected: [200, 200] },
  {
    title: 'the end of the session',
    change: ({ person }) =>
      sql()`update sessions set revoked_at = now() where user_id = ${person.userId}`,
    expected: [401, 401],
  },
  {
    title: 'the end of the token',
    change: ({ person }) =>
      sql()`update session_tokens set expires_at = now() - interval '1 second' where id = ${idOf(person)}`,
    expected: [401, 401],
  },
  {
    title: 'another verifier',
    change: ({ person }) =>
      sql()`update session_tokens set verifier = '\\x00' where id = ${idOf(person)}`,
    expected: [401, 401],
  },
  {
    title: 'a role that reads only',
    change: ({ person, team }) =>
      sql()`update memberships set role = 'read_only'
        where user_id = ${person.userId} and workspace_id = ${team.workspaceId}`,
    expected: [200, 403],
  },
  {
    title: 'an invitation that is open again',
    change: ({ person, team }) =>
      sql()`update memberships set status = 'invited'
        where user_id = ${person.userId} and workspace_id = ${team.workspaceId}`,
    expected: [404, 404],
  },
  {
    title: 'the end of the membership',
    change: ({ person, team }) =>
      sql()`delete from memberships
        where user_id = ${person.userId} and workspace_id = ${team.workspaceId}`,
    expected: [404, 404],
  },
  {
    title: 'another name of the project',
    change: ({ team }) => sql()`update projects set name = 'renamed' where id = ${team.projectId}`,
    expected: [200, 200],
  },
  {
    title: 'the end of the project',
    change: ({ team }) => sql()`delete from projects where id = ${team.projectId}`,
    expected: [404, 404],
  },
]

async function open(): Promise<Scene> {
  const team = await openProject(app)
  const person = await team.join('member')
  await team.owner.api.call(upsertSecrets, {
    body: { project_id: team.projectId, secrets: { KEY: team.seal('KEY', 'first') } },
  })
  return { team, person }
}

function read({ team, person }: Scene): Promise<Answer> {
  const path = getSecret.path.replace('{project_id}', team.projectId).replace('{key}', 'KEY')
  return app.call('GET', path, { token: person.token })
}

function write({ team, person }: Scene): Promise<Answer> {
  const body = { project_id: team.projectId, secrets: { KEY: team.seal('KEY', 'next') } }
  return app.call('POST', upsertSecrets.path, { token: person.token, body })
}

async function recordsOf({ team, person }: Scene): Promise<number> {
  const query = { workspace_id: team.workspaceId, agent_id: person.email }
  const records = await team.owner.api.list(listAuditLogs, { query })
  return records.filter(({ action }) => action !== 'access.denied').length
}

describe.each(cases)('after $title', ({ change, expected: [reads, writes] }) => {
  test('a read is answered from the current state', async () => {
    const scene = await open()
    for (let call = 0; call < 2; call += 1) expect((await read(scene)).status).toBe(200)
    const before = await recordsOf(scene)
    await change(scene)
    const { status, body } = await read(scene)
    expect(status).toBe(reads)
    if (reads !== 200) expect(body).not.toHaveProperty('data')
    expect((await recordsOf(scene)) - before).toBe(reads === 200 ? 1 : 0)
  })

  test('a write is made on the current state', async () => {
    const scene = await open()
    for (let call = 0; call < 2; call += 1) expect((await write(scene)).status).toBe(200)
    const before = await recordsOf(scene)
    await change(scene)
    expect((await write(scene)).status).toBe(writes)
    expect((await recordsOf(scene)) - before).toBe(writes === 200 ? 1 : 0)
    const [row] =
      await sql()`select version from secrets where project_id = ${scene.team.projectId}`
    expect(row?.version ?? null).toBe(writes === 200 ? 4 : row ? 3 : null)
  })
})

test("a record names the account's current name, also after earlier requests", async () => {
  const { team, person } = await open()
  const other: Scene = { team, person }
  const projectId = await team.addProject('second')
  await team.owner.api.call(upsertSecrets, {
    body: { project_id: projectId, secrets: { KEY: team.seal('KEY', 'first') } },
  })
  const second: Scene = { team: { ...team, projectId }, person }
  for (const scene of [other, second]) await read(scene)
  const email = `now-${person.email}`
  await sql()`update users set email = ${email} where id = ${person.userId}`
  for (const scene of [other, second]) expect((await read(scene)).status).toBe(200)
  expect((await write(other)).status).toBe(200)
  const query = { workspace_id: team.workspaceId, agent_id: email }
  const records = await team.owner.api.list(listAuditLogs, { query })
  expect(records.map(({ action }) => action).sort()).toEqual([
    ...['secret.read', 'secret.read', 'secret.updated'],
  ])
})

test('many concurrent requests each get their own answer', async () => {
  const scenes = await Promise.all(Array.from({ length: 6 }, open))
  for (const scene of scenes) await read(scene)
  const ended = scenes.filter((_, index) => index % 2 === 0)
  for (const { person } of ended)
    await sql()`update sessions set revoked_at = now() where user_id = ${person.userId}`
  const statuses = await Promise.all(
    scenes.flatMap((scene) => [read(scene), read(scene)]).map(async (call) => (await call).status),
  )
  expect(statuses).toEqual(
    scenes.flatMap((_, index) => (index % 2 === 0 ? [401, 401] : [200, 200])),
  )
})
