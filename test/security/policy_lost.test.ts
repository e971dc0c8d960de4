// tier: quick
/**
 * A new value must not silently drop the limits of the old one, and an old policy must not come back unnoticed,
 * even if the caller holds a session.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Policy } from '../../src/core/policy/policy.ts'
import { listVersions } from '../../src/features/secrets/contract.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { expectFailure, expectRefusal } from '../support/failure.ts'
import { openProject, type ProjectTeam } from '../support/project.ts'

const NARROW: Policy = { allowed_methods: ['GET'], allowed_paths: ['/v1'] }
const WIDE: Policy = { allowed_domains: ['api.example.com'] }

let app: TestApp
let team: ProjectTeam

beforeAll(async () => {
  app = await startTestApp()
  team = await openProject(app)
})
afterAll(() => app.stop())

const entry = (key: string, text: string, policy?: Policy | null) => ({
  key,
  value: team.seal(key, text, { policy: policy ?? null }),
  ...(policy === undefined ? {} : { policy }),
})

function store(secrets: unknown) {
  const body = { project_id: team.projectId, secrets }
  return app.call('POST', '/api/secrets/', { token: team.owner.token, body })
}

function rollBack(key: string, body: unknown) {
  const path = `/api/secrets/${team.projectId}/${key}/rollback/`
  return app.call('POST', path, { token: team.owner.token, body })
}

async function read(key: string) {
  const path = `/api/secrets/${team.projectId}/${key}/`
  const { body } = await app.call('GET', path, { token: team.owner.token })
  return (body as { data: { policy: unknown; version: number } }).data
}

describe('a new value', () => {
  const message = 'has a policy: send the policy, or null to remove it'

  test('a new value without a policy field is rejected if a policy exists, with its whole batch', async () => {
    await store([entry('NARROW', 'a', NARROW), entry('EMPTY', 'a', {}), entry('FREE', 'a')])
    const secrets = [
      entry('NEW', 'b'),
      entry('NARROW', 'b'),
      entry('FREE', 'b'),
      entry('EMPTY', 'b'),
    ]
    const { token } = team.owner
    const project_id = team.projectId
    await expectRefusal(
      app,
      ['POST', '/api/secrets/', { token, body: { project_id, secrets } }],
      'validation_error',
      {
        fields: [
          { path: 'secrets.1', message },
          { path: 'secrets.3', message },
        ],
      },
    )
    const short = { FREE: team.seal('FREE', 'b'), NARROW: team.seal('NARROW', 'b') }
    await expectRefusal(
      app,
      ['POST', '/api/secrets/', { token, body: { project_id, secrets: short } }],
      'validation_error',
      { fields: [{ path: 'secrets.NARROW', message }] },
    )
  })

  test('a new value is stored with the sent policy, and with null without one', async () => {
    await store([
      entry('KEPT', 'a', NARROW),
      entry('WIDENED', 'a', NARROW),
      entry('FREED', 'a', NARROW),
    ])
    const again = [
      entry('KEPT', 'b', NARROW),
      entry('WIDENED', 'b', WIDE),
      entry('FREED', 'b', null),
    ]
    const answer = await store(again)
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 'success', data: { created: 0, updated: 3 } },
    ])
    expect(await read('KEPT')).toMatchObject({ policy: NARROW, version: 2 })
    expect(await read('WIDENED')).toMatchObject({ policy: WIDE, version: 2 })
    expect(await read('FREED')).toMatchObject({ policy: null, version: 2 })
    expect((await store({ FREED: team.seal('FREED', 'c') })).status).toBe(200)
  })

  test('a new value under another key is rejected for its key, after its policy was checked', async () => {
    await store([entry('ORDER', 'a', NARROW)])
    const value = team.seal('ORDER', 'b', { epoch: 2 })
    expectFailure(await store({ ORDER: value }), 'validation_error', {
      fields: [{ path: 'secrets.ORDER', message }],
    })
    const said = { fields: [{ path: 'secrets.0', message: 'is sealed for another epoch' }] }
    expectFailure(await store([{ key: 'ORDER', value, policy: NARROW }]), 'epoch_conflict', said)
  })
})

describe('rolling back', () => {
  const message =
    'This version has a different policy than the current version. Send it as `policy`.'

  test('a rollback to another policy is a conflict unless the call names that policy', async () => {
    for (const [before, today] of [
      [WIDE, NARROW],
      [null, NARROW],
      [NARROW, null],
    ]) {
      const key = `BACK_${JSON.stringify(before).length}_${JSON.stringify(today).length}`
      await store([entry(key, 'a', before)])
      await store([entry(key, 'b', today)])
      const path = `/api/secrets/${team.projectId}/${key}/rollback/`
      const { token } = team.owner
      for (const policy of [undefined, today, { allowed_methods: [] }]) {
        const body = { version: 1, ...(policy === undefined ? {} : { policy }) }
        await expectRefusal(app, ['POST', path, { token, body }], 'conflict', { message })
      }
      const answer = await rollBack(key, { version: 1, policy: before })
      expect(answer.status).toBe(200)
      expect(await read(key)).toMatchObject({ policy: before, version: 3 })
    }
  })

  test('a rollback to the current policy needs no policy field, whatever the order of its fields', async () => {
    const turned: Policy = { allowed_paths: ['/v1'], allowed_methods: ['GET'] }
    await store([entry('SAME', 'a', NARROW)])
    await store([entry('SAME', 'b', turned)])
    expect((await rollBack('SAME', { version: 1 })).status).toBe(200)
    expect((await rollBack('SAME', { version: 2, policy: NARROW })).status).toBe(200)
    const versions = await team.owner.api.call(listVersions, {
      params: { project_id: team.projectId, key: 'SAME' },
    })
    expect(versions.map(({ policy }) => JSON.stringify(policy))).toEqual(
      [turned, NARROW, turned, NARROW].map((policy) => JSON.stringify(policy)),
    )
  })
})
