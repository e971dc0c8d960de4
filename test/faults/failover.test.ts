// tier: all
/** A primary that fails, and its promoted standby: the server continues with all acknowledged changes. */
import { expect } from 'bun:test'
import { logInByPassword, signUp } from '../../src/client/account/log_in.ts'
import { ApiError, openApi } from '../../src/client/http/api.ts'
import { createProject, listProjects } from '../../src/features/projects/contract.ts'
import { benchSettings } from '../bench/server.ts'
import { scriptOf } from '../docs/blocks.ts'
import { requires } from '../support/requires.ts'
import { type ServerProcess, startServer } from '../support/server_process.ts'
import { type FaultCluster, startFaultCluster } from './cluster.ts'

const { afterAll, beforeAll, test } = requires('postgresql')

const WAIT_MS = 60_000
let primary: FaultCluster
let standby: FaultCluster
let server: ServerProcess

beforeAll(async () => {
  primary = await startFaultCluster()
  standby = await primary.standby()
  // Changes that the primary acknowledges are on the standby.
  await primary.ask("alter system set synchronous_standby_names = '*'")
  await primary.ask('select pg_reload_conf()')
  server = await startServer({
    ...benchSettings(),
    ...primary.database,
    DB_PORT: `${standby.port}`,
    DB_HOST: scriptOf('docs/guides/self-hosting.md', 'failover')
      .replace(/^export DB_HOST=(.*)\n$/, '$1')
      .replace('db1.internal', '127.0.0.1')
      .replace('db2.internal:5433', `127.0.0.1:${primary.port}`),
  })
}, WAIT_MS)
afterAll(async () => {
  server?.kill('SIGTERM')
  await server?.exited
  await standby?.remove()
  await primary?.remove()
})

test(
  'a promoted standby replaces a dead primary, and no acknowledged write is lost',
  async () => {
    const origin = server.controlPlane
    await signUp(origin, 'ada@example.com', 'four unlikely words')
    const session = await logInByPassword(origin, 'ada@example.com', 'four unlikely words')
    const api = openApi(origin, () => session.access)
    const workspace_id = session.workspaces[0]?.id ?? ''
    const acknowledged: string[] = []
    const refused = new Set<string>()
    const write = async (name: string) => {
      try {
        await api.call(createProject, { body: { name, workspace_id } })
        acknowledged.push(name)
        return true
      } catch (error) {
        refused.add(error instanceof ApiError ? error.code : String(error))
        return false
      }
    }
    for (let count = 0; count < 5; count += 1) await write(`before-${count}`)
    expect([...refused]).toEqual([])

    let isOver = false
    const writing = (async () => {
      for (let count = 0; !isOver; count += 1) await write(`during-${count}`)
    })()
    await primary.stop('immediate')
    await standby.promote()
    for (let tries = 0; !(await write(`after-${tries}`)); ) tries += 1
    isOver = true
    await writing

    const { names, total } = await api
      .list(listProjects, { query: { workspace_id } })
      .then((projects) => ({
        names: new Set(projects.map(({ name }) => name)),
        total: projects.length,
      }))
    expect(acknowledged.filter((name) => !names.has(name))).toEqual([])
    expect(names.size).toBe(total)
    expect([...refused].filter((code) => code !== 'unavailable')).toEqual([])
  },
  WAIT_MS,
)
