// tier: all, both databases in test:all
/** Without a durable record nothing is sent, and the server recovers without help when the database is back. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import postgres from 'postgres'
import { AuditTrail, type Entry } from '../../src/audit/trail.ts'
import { type FaultCode, messageOf, statusOf } from '../../src/core/fault.ts'
import { openLog } from '../../src/core/log.ts'
import { adviceFor } from '../../src/http/advice.ts'
import {
  type Agent,
  createAgentWithToken,
  openStage,
  recordOf,
  type Stage,
} from '../support/agent.ts'
import type { Answer } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { sharedCluster } from '../support/database.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'

const call = (stage: Stage) => ({
  target_url: stage.url('/'),
  headers: { Authorization: 'Bearer SVC_SECRET_KEY' },
})

function expectUnavailable(answer: Answer, code: FaultCode) {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: statusOf(code),
    body: { error_code: code, message: messageOf(code), ...adviceFor(code) },
  })
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}

describe('while the database stalls', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  }, 30_000)
  afterAll(() => stage.stop())

  /** These tables (embedded: all tables) cannot be read or written while `act` runs. */
  async function whileLocked(tables: string, act: () => Promise<void>) {
    await stage.app.connection.sql.begin(async (tx) => {
      await tx.unsafe(`lock table ${tables} in access exclusive mode`)
      await act()
    })
  }

  test('a call is 503 audit_unavailable, nothing is sent, and the next one works', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_stall') } })
    await recordOf(stage.app, await agent.resolve(call(stage)))
    const sent = stage.upstream.bytes
    const answers: Answer[] = []
    await whileLocked('audit_journal', async () => {
      const calls = Array.from({ length: 8 }, () => agent.resolve(call(stage)))
      answers.push(...(await Promise.all(calls)))
    })
    for (const answer of answers) expectUnavailable(answer, 'audit_unavailable')
    expect(stage.upstream.bytes).toBe(sent)
    const next = await agent.resolve(call(stage))
    expect(next.status).toBe(200)
    await recordOf(stage.app, next)
    // A record that was stored after its caller stopped waiting has its outcome.
    for (const answer of answers) {
      const late = await recordOf(stage.app, answer)
      if (late) expect(late).toMatchObject({ reason: 'audit_unavailable', status_code: 503 })
    }
  }, 30_000)

  test('a call without caches is 503 too, and does not wait endlessly', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_cold') } })
    const sent = stage.upstream.bytes
    await whileLocked('tokens', async () => {
      expectUnavailable(await agent.resolve(call(stage)), 'unavailable')
    })
    expect((await agent.resolve(call(stage))).status).toBe(200)
    const other = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_cold') } })
    await other.resolve({ target_url: 'https://blocked.example/' })
    const sentMeanwhile = stage.upstream.bytes
    expect(sentMeanwhile).toBeGreaterThan(sent)
    await whileLocked('secrets', async () => {
      // An undecided call is rejected. If the whole database stalls, the record of the rejection stalls too.
      const answer = await other.resolve(call(stage))
      const isEmbedded = stage.app.connection.kind === 'embedded'
      expectUnavailable(answer, isEmbedded ? 'audit_unavailable' : 'unavailable')
    })
    expect(stage.upstream.bytes).toBe(sentMeanwhile)
    expect((await other.resolve(call(stage))).status).toBe(200)
  }, 30_000)
})

{
  const { test, describe, beforeAll, afterAll } = requires('postgresql')

  describe('while a PostgreSQL server', () => {
    let cluster: Cluster
    let stage: Stage
    let agent: Agent

    beforeAll(async () => {
      cluster = await startCluster()
      const database = await cluster.createDatabase()
      stage = await openStage({
        env: {
          DB_HOST: cluster.socketDir,
          DB_NAME: database,
          DB_USER: 'cloakroom',
          DB_SSLMODE: 'disable',
        },
      })
      agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_stopped') } })
    }, 30_000)
    afterAll(async () => {
      await stage.stop()
      await cluster.stop()
    }, 30_000)

    /** The postmaster and all processes that it started. */
    function processes(): number[] {
      const children = readdirSync('/proc').filter((name) => {
        try {
          return (
            readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] ===
            String(cluster.pid())
          )
        } catch {
          return false
        }
      })
      return [cluster.pid(), ...children.map(Number)]
    }

    test('a frozen server makes calls 503, with nothing sent; once it resumes, it is used without a restart', async () => {
      expect((await agent.resolve(call(stage))).status).toBe(200)
      const sent = stage.upstream.bytes
      const frozen = processes()
      for (const pid of frozen) process.kill(pid, 'SIGSTOP')
      let answers: Answer[]
      try {
        answers = await Promise.all(Array.from({ length: 32 }, () => agent.resolve(call(stage))))
      } finally {
        for (const pid of frozen) process.kill(pid, 'SIGCONT')
      }
      for (const answer of answers) expectUnavailable(answer, 'audit_unavailable')
      expect(stage.upstream.bytes).toBe(sent)
      const thawed = await agent.resolve(call(stage))
      expect(thawed.status).toBe(200)
      expect(await recordOf(stage.app, thawed)).toMatchObject({ status_code: 200 })
      for (const answer of answers) {
        const late = await recordOf(stage.app, answer)
        if (late) expect(late).toMatchObject({ reason: 'audit_unavailable', status_code: 503 })
      }
    }, 30_000)

    test('a server that closes all connections makes calls 200 or 503, and soon 200 again', async () => {
      const { DB_NAME: database = '' } = stage.app.config
      const admin = postgres({ host: cluster.socketDir, user: 'cloakroom', database })
      const answers: Answer[] = []
      let ended = false
      const loops = Array.from({ length: 8 }, async () => {
        while (!ended) answers.push(await agent.resolve(call(stage)))
      })
      for (let round = 0; round < 5; round += 1) {
        const before = answers.length
        await admin`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like 'cloakroom%' and pid <> pg_backend_pid()`
        await until(() => answers.length >= before + 40)
      }
      ended = true
      await Promise.all(loops)
      const odd = answers.filter(
        ({ status, body }) =>
          status !== 200 &&
          !['audit_unavailable', 'unavailable'].includes(
            (body as { error_code: string }).error_code,
          ),
      )
      expect(odd.map(({ body }) => body)).toEqual([])
      expect((await agent.resolve(call(stage))).status).toBe(200)
      // Every record got its outcome, because no process ended.
      const open = async (): Promise<number> => {
        const [row] = await admin`
        select count(*)::int as count from audit_logs where source = 'resolver' and status_code is null`
        return row?.count
      }
      await until(async () => (await open()) === 0)
      await admin.end()
    }, 30_000)
  })
}

{
  const { test } = requires('postgresql')

  test('a stalled database does not delay a stop', async () => {
    const { socketDir, createDatabase } = await sharedCluster()
    const database = await createDatabase()
    const settings = { DB_HOST: socketDir, DB_NAME: database, DB_USER: 'cloakroom' }
    const stage = await openStage({ env: { ...settings, DB_SSLMODE: 'disable' } })
    const agent = await createAgentWithToken(stage)
    const admin = postgres({ host: socketDir, user: 'cloakroom', database })
    await admin.begin(async (tx) => {
      await agent.resolve({ target_url: stage.url('/') })
      await tx`lock table audit_logs in access exclusive mode`
      await stage.stop()
    })
    await admin.end()
  }, 20_000)
}

test('at most 10,000 entries wait, and the next is rejected immediately', async () => {
  const never = (() => new Promise(() => {})) as unknown as ConstructorParameters<
    typeof AuditTrail
  >[0]
  const trail = new AuditTrail(
    never,
    openLog('error', () => {}),
  )
  const refused: number[] = []
  const entryOf = (workspace_id: string) =>
    ({ workspace_id, token_id: 'a', timestamp: new Date() }) as Entry
  for (let number = 0; number < 10_600; number += 1) {
    trail.record(entryOf(`workspace ${number % 10}`)).catch(() => refused.push(number))
  }
  await Promise.resolve()
  // One group of entries is being written; the others wait.
  expect(refused.length).toBeGreaterThan(0)
  expect(Math.min(...refused)).toBeGreaterThanOrEqual(10_000)
  await trail.close(0)
})
