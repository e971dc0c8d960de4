// tier: all
/** The order of steps: first the record, then the credential, then the outcome in the same record. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type postgres from 'postgres'
import { readGroups } from '../../src/audit/journal.ts'
import { AuditTrail, type Entry } from '../../src/audit/trail.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { openLog } from '../../src/core/log.ts'
import { startApp } from '../../src/server/app.ts'
import {
  type Agent,
  createAgentWithToken,
  openStage,
  recordOf,
  type Stage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { freshDatabase } from '../support/database.ts'
import { startServer } from '../support/server_process.ts'
import { answerOf } from '../support/upstream.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_intent') } })
}, 30_000)
afterAll(() => stage.stop())

const call = (path: string) => ({
  target_url: stage.url(path),
  headers: { Authorization: 'Bearer SVC_SECRET_KEY' },
})

const silent = openLog('error', () => {})

/** The audit records that another process or connection reads, after this process has ended. */
async function recordsAfter(env: Record<string, string>, path: string) {
  const config = readConfig({ PORT: '0', RESOLVER_PORT: '0', ...env }, () => ({
    SECRET_KEY: env.SECRET_KEY ?? '',
    ENCRYPTION_KEY: env.ENCRYPTION_KEY ?? '',
  }))
  const app = await startApp(config, { log: silent, onFailure: () => {} })
  try {
    return [
      ...(await app.connection.sql`
        select decision, reason, status_code, redacted from audit_logs where target_path = ${path}`),
    ]
  } finally {
    await app.stop()
  }
}

/** A database that survives its process, and keys for it. */
async function lastingDatabase() {
  const database = await freshDatabase()
  const keys = {
    SECRET_KEY: 'test-secret-key-test-secret-key-test',
    ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64url'),
  }
  return { env: { ...database.env, ...keys }, remove: database.remove }
}

describe('the intent', () => {
  test('an intent is durable before the credential is sent, and complete within a second afterwards', async () => {
    const { sql } = stage.app.connection
    let during: unknown
    stage.upstream.on('/look', async (_, wire) => {
      const groups = await readGroups(sql, null)
      during = groups
        .flatMap(({ intents }) => intents.map(({ entry }) => entry))
        .filter(({ target_path }) => target_path === '/look')
      wire.write(answerOf(201, {}, 'made'))
    })
    const answer = await agent.resolve(call('/look'))
    const answeredAt = performance.now()
    expect(during).toMatchObject([
      {
        decision: 'allowed',
        reason: null,
        status_code: null,
        duration_ms: null,
        redacted: null,
        credential_ref: 'KEY',
        token_id: agent.tokenId,
      },
    ])
    expect(await recordOf(stage.app, answer)).toMatchObject({
      decision: 'allowed',
      status_code: 201,
      redacted: false,
    })
    expect(performance.now() - answeredAt).toBeLessThan(1_000)
  })

  test('many concurrent calls get one intent each, with its own outcome', async () => {
    stage.upstream.on('/many', ({ path }, wire) => {
      wire.write(answerOf(Number(path.split('=')[1]), {}))
    })
    const statuses = Array.from({ length: 60 }, (_, at) => 200 + at)
    const answers = await Promise.all(
      statuses.map((status) => agent.resolve(call(`/many?status=${status}`))),
    )
    const records = await Promise.all(answers.map((answer) => recordOf(stage.app, answer)))
    expect(records.map((record) => record?.status_code)).toEqual(statuses)
  })

  test('an intent marks a token as used', async () => {
    await recordOf(stage.app, await agent.resolve(call('/used')))
    const [row] = await stage.app.connection.sql`
      select last_used_at is not null as used from token_uses where token_id = ${agent.tokenId}`
    expect(row).toEqual({ used: true })
  })
})

describe('the outcome', () => {
  test('an outcome is written by a graceful stop, which waits for running calls', async () => {
    const { env, remove } = await lastingDatabase()
    const own = await openStage({ env })
    const started = Promise.withResolvers<void>()
    own.upstream.on('/stop', async (_, wire) => {
      started.resolve()
      await stopping.promise
      wire.write(answerOf(200, {}, marked('sk_live_stop')))
    })
    const stopping = Promise.withResolvers<void>()
    const one = await createAgentWithToken(own, { secrets: { KEY: marked('sk_live_stop') } })
    const answered = one.resolve({ ...call(''), target_url: own.url('/stop') })
    await started.promise
    const stopped = own.stop()
    stopping.resolve()
    expect((await answered).body).toMatchObject({
      body: 'SVC_SECRET_KEY',
      redacted: true,
    })
    await stopped
    expect(await recordsAfter(env, '/stop')).toEqual([
      { decision: 'allowed', reason: null, status_code: 200, redacted: true },
    ])
    remove()
  })

  test('an outcome is absent only if the process ended before it', async () => {
    const { env, remove } = await lastingDatabase()
    const server = await startServer({
      ...env,
      RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
      RESOLVER_CA_FILE: stage.caFile,
      RESOLVER_HOSTS: 'api.upstream.example=127.0.0.1',
    })
    const one = await createAgentWithToken(
      { app: server.app, authorityOf: stage.authorityOf },
      { secrets: { KEY: marked('sk_live_died') } },
    )
    const arrived = Promise.withResolvers<void>()
    stage.upstream.on('/died', () => arrived.resolve())
    const lost = one.resolve(call('/died')).catch(() => 'lost')
    await arrived.promise
    server.kill('SIGKILL')
    expect(await server.exited).toBe('SIGKILL')
    expect(await lost).toBe('lost')
    expect(await recordsAfter(env, '/died')).toEqual([
      { decision: 'allowed', reason: null, status_code: null, redacted: null },
    ])
    remove()
  })

  test('an outcome states that nothing was sent when the intent was stored but its confirmation was lost', async () => {
    const statements: string[] = []
    const unsafe = async (text: string, values: readonly unknown[] = []) => {
      statements.push(JSON.stringify(values))
      if (!text.includes('insert into audit_journal')) return []
      throw Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' })
    }
    const trail = new AuditTrail({ unsafe } as unknown as postgres.Sql, silent)
    const entry = { id: 'the-record', token_id: 'a-token', timestamp: new Date() } as Entry
    await expect(trail.record(entry)).rejects.toMatchObject({ code: 'audit_unavailable' })
    await trail.close(1_000)
    const outcome = statements.find((text) => text.includes('the-record') && text.includes('503'))
    expect(outcome ?? 'no outcome').toContain('audit_unavailable')
  })
})
