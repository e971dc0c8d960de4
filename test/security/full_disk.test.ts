// tier: all, both databases in test:all
/**
 * A database that accepts no writes, like the embedded one before its disk is full and PostgreSQL as a standby: reads
 * continue, every write is 503, and no credential is sent without its record.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { messageOf } from '../../src/core/fault.ts'
import { adviceFor } from '../../src/http/advice.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { callJson } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { databaseKind } from '../support/database.ts'
import { contentOf, expectFailure } from '../support/failure.ts'
import { until } from '../support/until.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage()
  agent = await createAgentWithToken(stage, {
    secrets: { KEY: marked('sk_live_full_disk') },
    capabilities: ['use', 'read'],
  })
}, 30_000)
afterAll(() => stage.stop())

/** PostgreSQL sessions read the setting when they begin, so existing ones are ended. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  const { config, connection } = stage.app
  if (databaseKind === 'embedded') {
    await connection.sql.unsafe(`set default_transaction_read_only = ${value}`)
    return
  }
  const place = { host: config.DB_HOST ?? '', user: config.DB_USER ?? '', database: 'postgres' }
  const admin = postgres({ ...place, max: 1 })
  await admin.unsafe(
    `alter database "${config.DB_NAME}" set default_transaction_read_only = ${value}`,
  )
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${config.DB_NAME ?? ''}`
  await admin.end()
  const isSet = async () => {
    const [row] = await connection.sql`show default_transaction_read_only`
    return row?.default_transaction_read_only === value
  }
  await until(() => isSet().catch(() => false))
}

test('writes are 503 and nothing is sent, reads continue, and the server recovers without help (62)', async () => {
  const { token } = agent.person
  const call = { target_url: stage.url('/'), headers: { 'X-Key': 'SVC_SECRET_KEY' } }
  expect((await agent.resolve(call)).status).toBe(200)
  await setReadOnly('on')
  const [before, sent] = [await contentOf(stage.app), stage.upstream.bytes]
  const writes: [string, string, unknown][] = [
    ['POST', '/api/projects/', { name: 'another', workspace_id: agent.workspaceId }],
    [
      'POST',
      '/api/secrets/',
      { project_id: agent.projectId, secrets: { A: btoa('x'.repeat(24)) } },
    ],
    ['POST', `/api/workspaces/${agent.workspaceId}/allowlist/`, { domain: 'new.example' }],
    ['POST', `/api/workspaces/${agent.workspaceId}/agents/`, { name: 'new' }],
    ['POST', '/api/auth/login/', { email: agent.person.email, password: agent.person.password }],
  ]
  for (const [method, path, body] of writes) {
    const answer = await stage.app.call(method, path, { token, body })
    expectFailure(answer, 'unavailable')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  const refused = await agent.resolve(call)
  expect({ status: refused.status, body: refused.body }).toEqual({
    status: 503,
    body: {
      error_code: 'audit_unavailable',
      message: messageOf('audit_unavailable'),
      ...adviceFor('audit_unavailable'),
    },
  })
  const delivery = { token: agent.token, body: { project_id: agent.projectId } }
  const delivered = await callJson(stage.app.resolver, 'POST', '/api/workloads/env/', delivery)
  expect(delivered.status).toBe(503)
  expect(stage.upstream.bytes).toBe(sent)

  for (const path of [
    '/api/users/me/',
    '/api/projects/',
    `/api/secrets/${agent.projectId}/?include=value`,
    `/api/audit/logs/?workspace_id=${agent.workspaceId}`,
  ]) {
    const answer = await stage.app.call('GET', path, { token })
    expect({ path, status: answer.status }).toEqual({ path, status: 200 })
  }
  expect(await contentOf(stage.app)).toEqual(before)

  await setReadOnly('off')
  const made = await stage.app.call('POST', '/api/projects/', {
    token,
    body: { name: 'another', workspace_id: agent.workspaceId },
  })
  expect(made.status).toBe(201)
  expect((await agent.resolve(call)).status).toBe(200)
})
