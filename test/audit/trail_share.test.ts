// tier: quick, both databases in test:all
import { expect, test } from 'bun:test'
import type postgres from 'postgres'
import { readGroups } from '../../src/audit/journal.ts'
import { AuditTrail, type Entry } from '../../src/audit/trail.ts'
import { Fault } from '../../src/core/fault.ts'
import { openLog } from '../../src/core/log.ts'

const SHARE = 2_500

function entryOf(workspace: string): Entry {
  return {
    id: Bun.randomUUIDv7(),
    workspace_id: workspace,
    policy_version: 1,
    token_id: 'token',
    registration_id: null,
    agent_id: 'agent',
    identity_level: 'agent',
    timestamp: new Date(),
    project_id: null,
    environment: null,
    method: null,
    target_url: null,
    target_path: null,
    target_domain: null,
    credential_ref: null,
    injection_style: null,
    decision: 'allowed',
    reason: null,
    status_code: null,
    duration_ms: null,
    redacted: null,
    action: null,
  }
}

test('a workspace that fills its share of the queue is rejected, others are recorded, and later it is accepted again', async () => {
  const opened = Promise.withResolvers<void>()
  let statements = 0
  /** A database that waits until it is released, and then stores nothing. */
  const unsafe = async () => {
    statements += 1
    await opened.promise
    return []
  }
  const sql = { unsafe } as unknown as postgres.Sql
  const trail = new AuditTrail(
    sql,
    openLog('error', () => {}),
  )
  const filling = Array.from({ length: SHARE }, () => trail.record(entryOf('greedy')))
  const over = await trail.record(entryOf('greedy')).catch((error: unknown) => error)
  expect(over instanceof Fault && over.code).toBe('audit_unavailable')
  const other = trail.record(entryOf('modest'))
  opened.resolve()
  expect(await other).toBe('stale')
  expect(new Set(await Promise.all(filling))).toEqual(new Set(['stale']))
  expect(await trail.record(entryOf('greedy'))).toBe('stale')
  expect(statements).toBeGreaterThan(SHARE / 500)
  await trail.close(100)
})

test("a burst of one workspace does not delay another's call, and keeps its own order", async () => {
  const groups: Entry[][] = []
  const unsafe = async (text: string, [, , , , intents = '']: string[]) => {
    if (!text.includes('insert into audit_journal')) return []
    const stored = { unsafe: async () => [{ id: '', live: '1 2', intents }] }
    for (const group of await readGroups(stored as unknown as postgres.Sql, null))
      groups.push(group.intents.map(({ entry }) => entry))
    return [{ live: '1 2' }]
  }
  const trail = new AuditTrail(
    { unsafe } as unknown as postgres.Sql,
    openLog('error', () => {}),
  )
  const burst = Array.from({ length: 1_000 }, () => entryOf('greedy'))
  const calls = [...burst, entryOf('modest')].map((entry) => trail.record(entry))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['recorded']))
  const order = groups.map((group) => group.map(({ workspace_id }) => workspace_id))
  expect(order[0]).toContain('modest')
  expect(Math.max(...order.map((group) => group.length))).toBeLessThan(100)
  const greedy = groups.flat().filter(({ workspace_id }) => workspace_id === 'greedy')
  expect(greedy.map(({ id }) => id)).toEqual(burst.map(({ id }) => id))
  await trail.close(100)
})

test('no other check of the journal begins while one waits for the database', async () => {
  const opened = Promise.withResolvers<never[]>()
  let statements = 0
  const unsafe = () => {
    statements += 1
    return opened.promise
  }
  const trail = new AuditTrail(
    { unsafe } as unknown as postgres.Sql,
    openLog('error', () => {}),
  )
  const looks = [trail.adopt(10), trail.adopt(10)]
  expect(statements).toBe(1)
  opened.resolve([])
  await Promise.all(looks)
  await trail.adopt(10)
  expect(statements).toBe(2)
  await trail.close(100)
})
