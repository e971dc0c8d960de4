// tier: quick, both databases in test:all
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type postgres from 'postgres'
import { LastUse, sweepUses } from '../../src/audit/last_use.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage()
  agent = await createAgentWithToken(stage)
}, 30_000)
afterAll(() => stage.stop())

const NOON = Date.parse('2026-01-02T12:00:00Z')

async function usesOf(id: string): Promise<unknown[]> {
  const rows = await stage.app.connection.sql`
    select last_used_at from token_uses where token_id = ${id}`
  return rows.map(({ last_used_at }) => new Date(String(last_used_at)))
}

test('the latest use among several processes is kept, and the row of the token is not written', async () => {
  const { sql } = stage.app.connection
  const row = () => sql`select xmin::text, last_used_at from tokens where id = ${agent.tokenId}`
  const before = [...(await row())]
  for (const minutes of [1, 3, 2]) {
    const process = new LastUse(sql)
    process.note(agent.tokenId, new Date(NOON + minutes * 60_000))
    await process.flush()
  }
  expect(await usesOf(agent.tokenId)).toEqual([new Date(NOON + 3 * 60_000)])
  expect([...(await row())]).toEqual(before)
})

test('no other write starts while a statement waits; uses that arrive meanwhile are written next', async () => {
  const held = Promise.withResolvers<void>()
  const asked: unknown[] = []
  const unsafe = async (_: string, [due]: [string]) => {
    asked.push(JSON.parse(due).map(({ token_id }: { token_id: string }) => token_id))
    await held.promise
  }
  const uses = new LastUse({ unsafe } as unknown as postgres.Sql)
  uses.note('one', new Date(NOON))
  const writing = [uses.write()]
  for (const at of [NOON, NOON + 20_000]) uses.note('two', new Date(at))
  writing.push(uses.write(), uses.write())
  expect(asked).toEqual([['one']])
  const flushed = uses.flush()
  held.resolve()
  await Promise.all([...writing, flushed])
  expect(asked).toEqual([['one'], ['two']])
})

test('uses without a token are deleted', async () => {
  const { sql, db } = stage.app.connection
  const gone = crypto.randomUUID()
  const uses = new LastUse(sql)
  for (const id of [gone, agent.tokenId]) uses.note(id, new Date(NOON))
  await uses.flush()
  expect(await usesOf(gone)).toHaveLength(1)
  await sweepUses(db)
  expect([await usesOf(gone), await usesOf(agent.tokenId)]).toEqual([[], [expect.any(Date)]])
})
