// tier: quick
/** A client that writes to one workspace without a pause takes no connection that other requests need. */
import { expect } from 'bun:test'
import { getSecret, upsertSecrets } from '../../src/features/secrets/contract.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { openProject, type ProjectTeam } from '../support/project.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'

const { test } = requires('postgresql')

/** More than the pool has connections. */
const WRITERS = 16

const write = ({ owner, projectId, seal }: ProjectTeam, name = 'KEY') =>
  owner.api.call(upsertSecrets, {
    body: { project_id: projectId, secrets: { [name]: seal(name, 'value') } },
  })

test('while writers wait for the lock of their workspace, another one is read', async () => {
  const app = await startTestApp()
  const [busy, other] = [await openProject(app), await openProject(app)]
  for (const team of [busy, other]) await write(team)
  const read = () =>
    other.owner.api.call(getSecret, { params: { project_id: other.projectId, key: 'KEY' } })
  await read()
  const keeper = app.connection.connectBesides('keeper')
  await keeper`begin`
  await keeper`select 1 from workspaces where id = ${busy.workspaceId} for update`
  const writing = Array.from({ length: WRITERS }, (_, index) => write(busy, `KEY_${index}`))
  const settled = Promise.allSettled(writing)
  await read()
  await keeper`rollback`
  // Every request that waited for a connection would have been rejected by now.
  expect((await settled).filter(({ status }) => status === 'rejected')).toEqual([])
  await keeper.end()
  await app.stop()
}, 30_000)

test('a client that writes without a pause queues at most two requests, so that others are served soon', async () => {
  const app = await startTestApp()
  const team = await openProject(app)
  const other = { ...team, owner: await team.join('member') }
  for (const writer of [team, other]) await write(writer)
  const keeper = app.connection.connectBesides('keeper')
  await keeper`begin`
  await keeper`select 1 from workspaces where id = ${team.workspaceId} for update`
  const ended: string[] = []
  const writing = Array.from({ length: WRITERS }, async (_, index) => {
    await write(team, `KEY_${index}`)
    ended.push('busy')
  })
  await until(async () => (await waiting(app)) === 2)
  const single = write(other).then(() => ended.push('single'))
  await until(async () => (await waiting(app)) === 3)
  await keeper`rollback`
  await Promise.all([...writing, single])
  expect(ended.indexOf('single')).toBeLessThan(6)
  await keeper.end()
  await app.stop()
}, 30_000)

/** Connections that wait for a lock. */
async function waiting({ connection: { sql } }: TestApp): Promise<number> {
  const [row] = await sql`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return row?.count
}
