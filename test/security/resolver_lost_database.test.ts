// tier: all
/** A database that disappears in the middle of a change: all or nothing, and no restart. */
import { expect } from 'bun:test'
import postgres from 'postgres'
import { sealSecret } from '../../src/client/vault.ts'
import { createAgentWithToken, openStage } from '../support/agent.ts'
import { sharedCluster } from '../support/database.ts'
import { expectFailure } from '../support/failure.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'

const { test } = requires('postgresql')

test('a database server lost during a bulk upsert is 503, nothing of it is stored, and a repeat succeeds', async () => {
  const { socketDir, createDatabase } = await sharedCluster()
  const database = await createDatabase()
  const settings = { DB_HOST: socketDir, DB_NAME: database, DB_USER: 'cloakroom' }
  const stage = await openStage({ env: { ...settings, DB_SSLMODE: 'disable' } })
  const agent = await createAgentWithToken(stage)
  const workspace = { id: agent.workspaceId, name: '', epoch: 1, key: agent.person.workspaceKey }
  const secrets = Array.from(
    { length: 500 },
    (_, number) => {
      const key = `BULK_${number}`
      const place = { projectId: agent.projectId, environment: 'development', key }
      return { key, value: sealSecret(workspace, place, null, `value-${number}`) }
    },
    30_000,
  )
  const upsert = () =>
    stage.app.call('POST', '/api/secrets/', {
      token: agent.person.token,
      body: { project_id: agent.projectId, secrets },
    })
  const admin = postgres({ host: socketDir, user: 'cloakroom', database })
  const count = async () => (await admin`select count(*)::int as count from secrets`)[0]?.count
  const lost = await admin.begin(async (tx) => {
    // The change is recorded last: there it waits, with 500 rows inserted and not committed.
    await tx`lock table audit_changes in access exclusive mode`
    const answered = upsert()
    // Queried outside this transaction, which would read the same list repeatedly.
    const waiting = () => admin`select pid from pg_stat_activity where datname = ${database}
    and application_name like 'cloakroom%' and wait_event_type = 'Lock' and query ilike 'insert%'`
    const backend = await until(async () => (await waiting())[0])
    await tx`select pg_terminate_backend(${backend.pid})`
    return answered
  })
  expectFailure(lost, 'unavailable')
  expect(await count()).toBe(0)
  expect(await upsert()).toMatchObject({ status: 201, body: { data: { created: 500 } } })
  expect(await count()).toBe(500)
  await admin.end()
  await stage.stop()
}, 30_000)
