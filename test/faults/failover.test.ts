/** A primary that dies, and its standby that is promoted: the server goes on with what was acknowledged. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { appendFileSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ApiError, openApi } from '../../src/client/http/api.ts'
import { logIn, signUp } from '../../src/client/vault.ts'
import { createProject, listProjects } from '../../src/features/projects/contract.ts'
import { benchSettings } from '../bench/server.ts'
import { databasePlace } from '../support/places.ts'
import { findPostgres, run, unprivileged } from '../support/postgres.ts'
import { type ServerProcess, startServer } from '../support/server_process.ts'

const WAIT_MS = 60_000
const bin = findPostgres() ?? ''
const owner = unprivileged()
const home = mkdtempSync(join(databasePlace, 'cr-failover-'))
const data = { primary: join(home, 'primary'), standby: join(home, 'standby') }
const ports = { primary: freePort(), standby: freePort() }
let server: ServerProcess

const control = (node: keyof typeof data, ...what: string[]) =>
  run(
    [join(bin, 'pg_ctl'), '-D', data[node], '-l', `${data[node]}.log`, '-w', ...what],
    owner,
    home,
  )
const asked = (program: string, ...options: string[]) =>
  run(
    [join(bin, program), '-h', home, '-p', `${ports.primary}`, '-U', 'cloakroom', ...options],
    owner,
    home,
  )

beforeAll(async () => {
  if (owner) chownSync(home, owner.uid, owner.gid)
  const { primary, standby } = data
  await run(
    [
      join(bin, 'initdb'),
      '-D',
      primary,
      '-U',
      'cloakroom',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--no-locale',
    ],
    owner,
    home,
  )
  const settings = (port: number) =>
    `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = '${home}'\nfsync = off\n`
  appendFileSync(join(primary, 'postgresql.conf'), settings(ports.primary))
  await control('primary', 'start')
  await asked('createdb', 'cloakroom')
  await asked('pg_basebackup', '-D', standby, '-R', '-c', 'fast')
  appendFileSync(join(standby, 'postgresql.conf'), settings(ports.standby))
  await control('standby', 'start')
  // What the primary acknowledges is at the standby.
  await asked('psql', '-c', "alter system set synchronous_standby_names = '*'", 'cloakroom')
  await control('primary', 'reload')
  server = await startServer({
    ...benchSettings(),
    DB_HOST: `127.0.0.1:${ports.standby},127.0.0.1:${ports.primary}`,
    DB_NAME: 'cloakroom',
    DB_USER: 'cloakroom',
  })
}, WAIT_MS)
afterAll(async () => {
  server?.kill('SIGTERM')
  await server?.exited
  await control('standby', '-m', 'immediate', 'stop')
  rmSync(home, { recursive: true, force: true })
})

function freePort(): number {
  const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  taken.stop(true)
  return taken.port
}

test(
  'a standby that is promoted takes the place of a primary that died, and nothing acknowledged is lost',
  async () => {
    const origin = server.controlPlane
    await signUp(origin, 'ada@example.com', 'four unlikely words')
    const session = await logIn(origin, 'ada@example.com', 'four unlikely words')
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
    await control('primary', '-m', 'immediate', 'stop')
    await control('standby', 'promote')
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
