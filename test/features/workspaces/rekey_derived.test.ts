// tier: quick, both databases in test:all
/** The states of derived credentials move to the new key in a rekey, or are deleted. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { OuterLayer, secretRow } from '../../../src/core/crypto/outer_layer.ts'
import {
  getSecret,
  listDerivedStates,
  listSecrets,
  upsertSecrets,
} from '../../../src/features/secrets/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { type Call, expectFailure } from '../../support/failure.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'
import { prepareRekey } from './rekeying.ts'

const NAMES = ['ONE', 'TWO', 'PLAIN']
const toText = (state: string) => Buffer.from(state, 'base64').toString()
const toState = (text: string) => Buffer.from(text).toString('base64')

let app: TestApp
let outer: OuterLayer
let team: ProjectTeam

beforeAll(async () => {
  app = await sharedApp()
  outer = OuterLayer.parse(String(app.config.ENCRYPTION_KEY))
})
beforeEach(async () => {
  team = await openProject(app)
  const secrets = NAMES.map((key) => ({ key, value: team.seal(key, 'a root') }))
  await team.owner.api.call(upsertSecrets, {
    body: { project_id: team.projectId, environment: 'development', secrets },
  })
  await addState('ONE', 5)
  await addState('TWO', 7)
})

const sql = () => app.connection.sql

async function addState(key: string, generation: number): Promise<void> {
  const { workspaceId, projectId } = team
  const row = secretRow({ projectId, environment: 'development', key })
  const state = await outer.seal('derived.state', workspaceId, row, Buffer.from(`state of ${key}`))
  await sql()`insert into derived_states (workspace_id, project_id, environment, key, generation, state, expires_at)
    values (${workspaceId}, ${projectId}, 'development', ${key}, ${generation}, ${state}, to_timestamp(1.5))`
}

function list(limit = 100) {
  return team.owner.api.list(listDerivedStates, {
    params: { project_id: team.projectId },
    query: { limit },
  })
}

const states = async () =>
  (await list()).map(({ key, generation, state }) => [key, generation, toText(state)])

async function rekey(derived: { key: string; generation: number; state: string }[] | undefined) {
  const { body } = await prepareRekey(team)
  const place = { project_id: team.projectId, environment: 'development' }
  const sent = derived && { derived: derived.map((entry) => ({ ...place, ...entry })) }
  const call: Call = [
    'POST',
    `/api/workspaces/${team.workspaceId}/rekey/`,
    { token: team.owner.token, body: { ...body, ...sent } },
  ]
  return app.call(...call)
}

const moved = (key: string, generation: number) => ({
  key,
  generation,
  state: toState(`new state of ${key}`),
})

describe('states of derived credentials', () => {
  test('states of derived credentials are listed by page, opened without the outer layer, and recorded', async () => {
    const expected = [
      ['ONE', 5, 'state of ONE'],
      ['TWO', 7, 'state of TWO'],
    ] as const
    expect(await states()).toEqual(expected.map((row) => [...row]))
    expect((await list(1)).map(({ key }) => key)).toEqual(['ONE', 'TWO'])
    await app.flushAudit()
    const reads = await sql()`select resource ->> 'name' as name from audit_logs
      where action = 'secret.read' and project_id = ${team.projectId} order by recorded_at, id`
    expect(reads.map(({ name }) => name)).toEqual(['ONE,TWO', 'ONE', 'TWO'])
  })

  test('the list of states omits states that do not open, and deleted secrets', async () => {
    await sql()`update derived_states set state = 'moved' where workspace_id = ${team.workspaceId} and key = 'ONE'`
    expect(await states()).toEqual([['TWO', 7, 'state of TWO']])
    await sql()`delete from secrets where workspace_id = ${team.workspaceId} and key = 'TWO'`
    expect(await states()).toEqual([])
  })

  test('lists of secrets have hints for secrets with a kind in their policy', async () => {
    const { projectId, owner } = team
    await sql()`update secrets set policy = '{"kind": "oauth2"}' where workspace_id = ${team.workspaceId} and key <> 'TWO'`
    await sql()`update derived_states set failed_at = to_timestamp(2), failed_code = 'refused'
      where workspace_id = ${team.workspaceId}`
    const params = { project_id: projectId }
    const listed = await owner.api.list(listSecrets, { params, query: {} })
    const hints = {
      expires_at: '1970-01-01T00:00:01.500Z',
      failed_at: '1970-01-01T00:00:02.000Z',
      failed_code: 'refused',
    }
    expect(listed.map(({ key, derived }) => [key, derived])).toEqual([
      ['ONE', hints],
      ['PLAIN', null],
      ['TWO', null],
    ])
    const one = await owner.api.call(getSecret, { params: { ...params, key: 'ONE' }, query: {} })
    expect(one.derived).toEqual(hints)
  })
})

describe('a rekey', () => {
  test('a rekey replaces the states that it carries with the next generation, and deletes the others', async () => {
    expect((await rekey([moved('TWO', 7)])).status).toBe(200)
    expect(await states()).toEqual([['TWO', 8, 'new state of TWO']])
    const left =
      await sql()`select key from derived_states where workspace_id = ${team.workspaceId}`
    expect(left.map(({ key }) => key)).toEqual(['TWO'])
  })

  test('a rekey without states deletes all', async () => {
    expect((await rekey(undefined)).status).toBe(200)
    expect(await states()).toEqual([])
  })

  test.each([
    ['a generation that is no longer stored', () => [moved('ONE', 4), moved('TWO', 7)]],
    ['a secret without a state', () => [moved('PLAIN', 1)]],
  ])('a rekey is rejected for %s, and changes nothing', async (_, derived) => {
    expectFailure(await rekey(derived()), 'conflict')
    expect((await states()).map(([key, generation]) => [key, generation])).toEqual([
      ['ONE', 5],
      ['TWO', 7],
    ])
  })

  test('a rekey is rejected while a credential is renewed, also one whose state it omits', async () => {
    const lease = (seconds: number) =>
      sql()`update derived_states set lease_id = gen_random_uuid(), lease_until = now() + make_interval(secs => ${seconds}::int)
        where workspace_id = ${team.workspaceId} and key = 'ONE'`
    await lease(30)
    expectFailure(await rekey([moved('TWO', 7)]), 'conflict')
    await lease(-1)
    expect((await rekey([moved('TWO', 7)])).status).toBe(200)
  })

  test('a rekey is rejected if it names a state twice', async () => {
    const fields = [{ path: 'derived.1', message: 'is given twice' }]
    const answer = await rekey([moved('ONE', 5), moved('ONE', 5)])
    expectFailure(answer, 'validation_error', { fields })
  })
})
