// tier: all
/** Cloakroom behind the real PgBouncer in transaction mode, with the configuration of docs/deploy/pgbouncer.ini. */

import { expect } from 'bun:test'
import { chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import postgres from 'postgres'
import { readConfig } from '../../src/core/config/config.ts'
import { openLog } from '../../src/core/log.ts'
import { openBus, POLICY_CHANGES } from '../../src/database/notify.ts'
import { openDatabase, serverOptions } from '../../src/database/open.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { scriptOf } from '../docs/blocks.ts'
import { startWire } from '../faults/swallowing.ts'
import { operate, start } from '../operator/backup/support.ts'
import {
  BOTH,
  countsOf,
  type Filled,
  idOf,
  NEW,
  OLD,
  OTHER,
  openFilled,
  putUnderOld,
} from '../operator/rekey_outer/support.ts'
import {
  type Agent,
  API,
  createAgentWithToken,
  openStage,
  resolveAs,
  type Stage,
} from '../support/agent.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { preparedDatabase, sharedCluster } from '../support/database.ts'
import { findProgram } from '../support/needs.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { watched } from '../support/watched.ts'
import { replaced } from './fronts.ts'

const { afterAll, beforeAll, describe, test } = requires('postgresql', 'pgbouncer')

const PORT = 6432
const SESSIONS = 3
/** A pool that the servers do not use. */
const APART = 'apart'
const value = marked('pooled_')
const PASSWORD = 'of the pooler'

type Pooler = { directory: string; stop(): Promise<void> }

/** Listens on a Unix socket; everything else is taken from the example. */
async function startPooler(
  database: string,
  socketDir: string,
  sessions = SESSIONS,
): Promise<Pooler> {
  const program = findProgram('pgbouncer') ?? 'pgbouncer'
  const directory = mkdtempSync(join(tmpdir(), 'cr-pooler-'))
  const example = readFileSync(join(import.meta.dir, '../../docs/deploy/pgbouncer.ini'), 'utf8')
  const users = join(directory, 'userlist.txt')
  const to = `host=${socketDir} dbname=${database}`
  const text = replaced(example, [
    [
      'cloakroom = host=127.0.0.1 port=5432 dbname=cloakroom',
      `${database} = ${to}\n${APART} = ${to} pool_size=2`,
    ],
    ['listen_addr = 127.0.0.1', 'listen_addr ='],
    ['unix_socket_dir =', `unix_socket_dir = ${directory}`],
    ['/etc/pgbouncer/userlist.txt', users],
    ['default_pool_size = 20', `default_pool_size = ${sessions}\nadmin_users = cloakroom`],
  ])
  writeFileSync(users, `"cloakroom" "${PASSWORD}"\n`)
  writeFileSync(join(directory, 'pgbouncer.ini'), text)
  // Like PostgreSQL, PgBouncer does not run as root, so it runs as the owner of PostgreSQL's directory.
  const { uid, gid } = statSync(socketDir)
  const owner = process.getuid?.() === 0 ? { uid, gid } : {}
  if (process.getuid?.() === 0) chownSync(directory, uid, gid)
  const child = watched(
    Bun.spawn([program, join(directory, 'pgbouncer.ini')], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      cwd: directory,
      ...owner,
    }),
  )
  const errors = new Response(child.stderr).text()
  const sql = adminOf(directory)
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${await errors}`)
    const version = sql.unsafe('show version').simple()
    return await version.then(
      () => true,
      () => false,
    )
  })
  await sql.end()
  return {
    directory,
    stop: async () => {
      child.kill('SIGINT')
      await child.exited
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function adminOf(directory: string) {
  return postgres({
    host: directory,
    port: PORT,
    database: 'pgbouncer',
    user: 'cloakroom',
    password: PASSWORD,
    max: 1,
    fetch_types: false,
  })
}

describe('behind pgbouncer in transaction mode', () => {
  let pooler: Pooler
  let pooled: Record<string, string>
  let itself: Record<string, string>
  let stage: Stage
  let other: TestApp
  let agent: Agent

  beforeAll(async () => {
    const { env } = await preparedDatabase()
    const { socketDir } = await sharedCluster()
    pooler = await startPooler(env.DB_NAME ?? '', socketDir)
    const page = replaced(scriptOf('docs/guides/scaling.md', 'pgbouncer'), [
      ['127.0.0.1', pooler.directory],
      ['db.internal', socketDir],
    ])
    const { DB_LISTEN_HOST = '', ...documented } = parseEnv(page)
    pooled = { ...env, ...documented, DB_PASSWORD: PASSWORD }
    itself = { DB_LISTEN_HOST }
    stage = await openStage({ env: { ...pooled, ...itself } })
    const resolving = {
      RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
      RESOLVER_CA_FILE: stage.caFile,
      RESOLVER_HOSTS: `${API}=127.0.0.1`,
    }
    const database = { env: { ...pooled, ...itself }, remove: () => {} }
    other = await startTestApp(resolving, { database })
    agent = await createAgentWithToken(stage, { secrets: { API_KEY: value } })
  }, 60_000)

  afterAll(async () => {
    await other?.stop()
    await stage?.stop()
    await pooler?.stop()
  })

  const call = (app: TestApp) =>
    agent.resolve(
      {
        target_url: stage.url('/charges'),
        headers: { Authorization: 'Bearer SVC_SECRET_API_KEY' },
      },
      app.resolver,
    )

  test('two processes serve people and agents over fewer sessions than they have connections', async () => {
    const apps = Array.from({ length: 60 }, (_, index) => (index % 2 ? other : stage.app))
    const answers = await Promise.all(
      apps.map(async (app, index) => {
        if (index % 3 === 0) await agent.store('API_KEY', value)
        if (index % 3 === 1)
          await app.as(agent.person.token).list(listAuditLogs, {
            query: { workspace_id: agent.workspaceId },
          })
        return (await call(app)).status
      }),
    )
    expect(answers).toEqual(Array(60).fill(200))
    const admin = adminOf(pooler.directory)
    const pools = await admin.unsafe('show pools').simple()
    await admin.end()
    const { cl_active, cl_waiting, sv_active, sv_idle, sv_used, pool_mode } = pools.find(
      ({ database }) => database === pooled.DB_NAME,
    ) as Record<string, string>
    expect(pool_mode).toBe('transaction')
    expect(Number(sv_active) + Number(sv_idle) + Number(sv_used)).toBeLessThanOrEqual(SESSIONS)
    expect(Number(cl_active) + Number(cl_waiting)).toBeGreaterThan(SESSIONS)
    const loud = [...stage.app.logs, ...other.logs].filter((line) =>
      /"level":"(warning|error)"/.test(line),
    )
    expect(loud).toEqual([])
  })

  test('a token that is revoked at one process is immediately rejected by the other', async () => {
    const token = await agent.issue()
    await agent.provision(token)
    const body = { target_url: stage.url('/charges'), headers: {} }
    expect((await resolveAs(other.resolver, token.text, body)).status).toBe(200)
    await agent.revoke(token.id)
    expect((await resolveAs(other.resolver, token.text, body)).status).toBe(401)
  })

  test('notices of a change arrive from PostgreSQL sessions without the pooler', async () => {
    const connection = await openDatabase(configOf({ ...pooled, ...itself }), () => {})
    const bus = openBus(
      connection,
      openLog('error', () => {}),
    )
    const notice = Promise.withResolvers<string>()
    const ready = Promise.withResolvers<void>()
    bus.subscribe(POLICY_CHANGES, { onNotice: notice.resolve, onGap: ready.resolve })
    await ready.promise
    await agent.allow('another.example.com')
    expect(await notice.promise).toBe(agent.workspaceId)
    await bus.close()
    await connection.close()
  })

  test('a statement that is lost on its way is abandoned, and one that PostgreSQL executes is not', async () => {
    const wire = await startWire({ path: `${pooler.directory}/.s.PGSQL.${PORT}` })
    const way = { DB_HOST: '127.0.0.1', DB_PORT: String(wire.port), DB_SSLMODE: 'disable' }
    const config = configOf({ ...pooled, ...itself, ...way })
    const connection = await openDatabase(config, () => {}, { isServing: true })
    try {
      await connection.sql`select 1`
      wire.swallow('to')
      const lost = connection.sql`select 1`.then(
        () => 'answered',
        ({ code }) => code,
      )
      // Real time: TCP must repeat the lost packets before the network is repaired.
      await Bun.sleep(1_000)
      wire.mend()
      expect(await lost).toBe('CONNECTION_SILENT')
      const [slept] = await connection.sql`select 'slept' as what from pg_sleep(9)`
      expect(slept).toEqual({ what: 'slept' })
    } finally {
      await connection.close()
      wire.close()
    }
  }, 60_000)

  /** The same statement twice from one connection, in one and then in the other of two sessions. */
  async function askTwice(env: Record<string, string>): Promise<unknown[]> {
    const config = configOf({ ...pooled, ...env, DB_NAME: APART })
    const options = { ...serverOptions(config, pooler.directory), max: 1 }
    const clients = [postgres(options), postgres(options), postgres(options)] as const
    const [asking, ...others] = clients
    // Outside a transaction the driver would retry silently.
    const ask = () =>
      asking.begin(async (tx) => (await tx`select pg_backend_pid() as pid, ${7}::int as seven`)[0])
    // A transaction keeps its session.
    const take = async (sql: postgres.Sql) => {
      await sql.unsafe('begin')
      return (await sql.unsafe('select pg_backend_pid() as pid'))[0]?.pid
    }
    try {
      const first = await ask()
      if ((await take(others[0])) !== first?.pid) {
        expect(await take(others[1])).toBe(first?.pid)
        await others[0].unsafe('rollback')
      }
      const second = await ask()
      expect(second?.pid).not.toBe(first?.pid)
      return [first?.seven, second?.seven]
    } finally {
      for (const client of clients) await client.end()
    }
  }

  test('with DB_LISTEN_HOST a statement succeeds in a session that has not prepared it', async () => {
    expect(await askTwice(itself)).toEqual([7, 7])
  })

  test('without DB_LISTEN_HOST a transaction fails in a session that has not prepared its statement', async () => {
    await expect(askTwice({})).rejects.toMatchObject({ code: '26000' })
  })
})

describe('rekey-outer behind pgbouncer, which shares one session between all clients', () => {
  let pooler: Pooler
  let filled: Filled

  beforeAll(async () => {
    const { env } = await preparedDatabase()
    const { socketDir } = await sharedCluster()
    pooler = await startPooler(env.DB_NAME ?? '', socketDir, 1)
    const pooled = { DB_HOST: pooler.directory, DB_PORT: String(PORT), DB_PASSWORD: PASSWORD }
    filled = await openFilled({ ...env, ...pooled, DB_LISTEN_HOST: socketDir })
  }, 60_000)

  afterAll(async () => {
    await filled?.stage.stop()
    await pooler?.stop()
  })

  const run = (ENCRYPTION_KEY: string, ...words: string[]) =>
    operate({ ...filled.env, ENCRYPTION_KEY }, 'rekey-outer', ...words)

  test("a server without the new key stops the rekey, although the session has the command's name", async () => {
    expect(await run(`${OTHER},${BOTH}`)).toMatchObject({
      code: 1,
      err: expect.stringMatching(new RegExp(`without the key .*with ${idOf(NEW)} ${idOf(OLD)}`)),
    })
    expect(await countsOf(filled)).toMatchObject({ underOld: 0 })
    expect(await run(`${OLD},${NEW}`, '--json')).toMatchObject({
      out: expect.stringContaining(`"needed_keys":{"${idOf(NEW)}":"process"}`),
    })
  }, 60_000)

  test('the rekey reports where its lock could not be taken', async () => {
    const unreachable = { DB_LISTEN_HOST: '127.0.0.1', DB_LISTEN_PORT: '1' }
    expect(await operate({ ...filled.env, ...unreachable }, 'rekey-outer')).toMatchObject({
      code: 1,
      err: 'cloakroom: could not connect to take the lock (ECONNREFUSED): check DB_LISTEN_HOST and DB_LISTEN_PORT\n',
    })
  }, 60_000)

  test('the second of two concurrent rekeys is refused', async () => {
    await putUnderOld(filled)
    const first = start(filled.env, 'rekey-outer', '--batch', '1', '--pause', '300')
    await until(async () => (await countsOf(filled)).underNew >= 1)
    expect(await run(BOTH)).toMatchObject({
      code: 1,
      err: expect.stringContaining('another rekey-outer is running'),
    })
    first.kill('SIGKILL')
    await first.exited
    expect(await run(BOTH)).toMatchObject({ code: 0 })
  }, 60_000)
})

function configOf(env: Record<string, string>) {
  const keys = {
    SECRET_KEY: 'test-secret-key-test-secret-key-test',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
  }
  return readConfig({ ...keys, ...env }, () => keys)
}
