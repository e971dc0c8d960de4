// tier: quick
/** Reads of values, and rejections, are in the audit: with names, and never with a value. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditLogs } from '../../src/database/schema/index.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { upsertSecrets } from '../../src/features/secrets/contract.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { expectFailure } from '../support/failure.ts'
import type { Person } from '../support/people.ts'
import { openProject, type ProjectTeam } from '../support/project.ts'

let app: TestApp
let team: ProjectTeam
let reader: Person

beforeAll(async () => {
  app = await startTestApp()
  team = await openProject(app)
  reader = await team.join('read_only')
  for (const version of ['one', 'two']) {
    const secrets = { A: team.seal('A', version), B: team.seal('B', version) }
    await team.owner.api.call(upsertSecrets, { body: { project_id: team.projectId, secrets } })
  }
})
afterAll(() => app.stop())
beforeEach(async () => {
  await app.flushAudit()
  await app.connection.db.delete(auditLogs).where(eq(auditLogs.userId, reader.userId))
})

const records = (query: object = {}) =>
  team.owner.api.list(listAuditLogs, { query: { workspace_id: team.workspaceId, ...query } })
const get = (path: string) =>
  app.call('GET', `/api/secrets/${team.projectId}/${path}`, { token: reader.token })

describe('a read of values by a person', () => {
  test.each([
    ['of one secret', 'A/', 'A'],
    ['of a list', '?include=value', 'A,B'],
    ['of a page of a list', '?include=value&limit=1', 'A'],
    ['of old versions', 'B/versions/?include=value', 'B'],
  ])('a read %s is one record with the names', async (_, path, name) => {
    const { status, body } = await get(path)
    expect(status).toBe(200)
    const seen = await records({ agent_id: reader.email })
    expect(seen).toEqual([
      expect.objectContaining({
        action: 'secret.read',
        source: 'control_plane',
        identity_level: 'user',
        agent_id: reader.email,
        user_id: reader.userId,
        project_id: team.projectId,
        environment: 'development',
        credential_ref: name,
        decision: 'allowed',
        resource: {
          type: 'secret',
          id: name.includes(',') ? null : expect.stringMatching(/^[0-9a-f-]{36}$/),
          name,
        },
      }),
    ])
    const [shown] = [(body as { data: { value?: string }[] | { value?: string } }).data].flat()
    expect(JSON.stringify(seen)).not.toContain(shown?.value ?? 'no value was shown')
  })

  test.each(['', 'A/versions/', '?include=value&environment=staging'])(
    'a read without values leaves no record: %p',
    async (path) => {
      expect((await get(path)).status).toBe(200)
      expect(await records({ agent_id: reader.email })).toEqual([])
    },
  )

  const whileRecordsFail = async (code: string, act: () => Promise<void>) => {
    const { sql } = app.connection
    await sql.unsafe(`create function fail() returns trigger language plpgsql as
      $$ begin raise exception 'no' using errcode = '${code}'; end $$`)
    await sql`create trigger fail before insert on audit_changes for each row execute function fail()`
    try {
      await act()
    } finally {
      await sql`drop trigger fail on audit_changes`
      await sql`drop function fail`
    }
  }

  test.each([
    ['goes on while the disk is full', '53100', 200],
    ['goes on while the database is read-only', '25006', 200],
    ['is refused when the database is lost before its record', '57P01', 503],
    ['is refused when its record fails for another reason', '22000', 500],
  ])('%s', async (_, code, expected) => {
    await whileRecordsFail(code, async () => {
      expect((await get('A/')).status).toBe(expected)
      expect((await get('?include=value')).status).toBe(expected)
      expect((await get('')).status).toBe(200)
    })
  })

  test('a read of values that is rejected leaves no record', async () => {
    expectFailure(await get('NONE/'), 'not_found')
    expect(await records({ action: 'secret.read', credential: 'NONE' })).toEqual([])
  })
})

describe('a refusal by role', () => {
  const remove = (key: string) =>
    app.call('DELETE', `/api/secrets/${team.projectId}/${key}/`, { token: reader.token })
  const invite = () =>
    app.call('POST', `/api/workspaces/${team.workspaceId}/members/`, {
      token: reader.token,
      body: {},
    })

  test('a rejection by role is one record a minute for a person and an action', async () => {
    await Promise.all(
      ['A', 'A', 'B', 'B'].map(async (key) => expectFailure(await remove(key), 'forbidden')),
    )
    expectFailure(await invite(), 'forbidden')
    const seen = await records({ action: 'access.denied' })
    expect(seen.map(({ resource }) => resource?.name)).toEqual(['members.invite', 'secrets.delete'])
    expect(seen[1]).toMatchObject({
      agent_id: reader.email,
      user_id: reader.userId,
      project_id: team.projectId,
      decision: 'blocked',
      reason: 'forbidden',
      status_code: 403,
      resource: { type: 'endpoint', id: null, name: 'secrets.delete' },
    })
    await app.connection.sql`update audit_logs set timestamp = timestamp - interval '61 seconds'
      where action = 'access.denied'`
    expectFailure(await remove('A'), 'forbidden')
    expect(await records({ action: 'access.denied', since: '1m' })).toHaveLength(1)
    expect(await records({ action: 'access.denied' })).toHaveLength(3)
  })

  test('a rejection by a rule about which roles may change a member is one record, too', async () => {
    const admin = await team.join('admin')
    const path = `/api/workspaces/${team.workspaceId}/members/${team.owner.userId}/`
    expectFailure(
      await app.call('DELETE', path, { token: admin.token }),
      'forbidden',
      expect.anything(),
    )
    const [seen] = await records({ action: 'access.denied', agent_id: admin.email })
    expect(seen).toMatchObject({ resource: { name: 'members.remove' }, user_id: admin.userId })
  })

  test("a stranger's rejected request leaves no record: for a stranger the workspace does not exist", async () => {
    const { owner: stranger } = await openProject(app)
    const path = `/api/secrets/${team.projectId}/A/`
    expectFailure(await app.call('DELETE', path, { token: stranger.token }), 'not_found')
    expect(await records({ agent_id: stranger.email })).toEqual([])
  })
})
