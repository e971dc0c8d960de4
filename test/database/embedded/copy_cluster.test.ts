// tier: all
/** A copy that is made while the database runs contains all data acknowledged before it, and nothing partial. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { readConfig } from '../../../src/core/config/config.ts'
import { copyCluster } from '../../../src/database/embedded/copy_cluster.ts'
import { type Connection, openDatabase } from '../../../src/database/open.ts'
import { generateKeys } from '../../../src/operator/own_keys.ts'
import { databasePlace } from '../../support/places.ts'

let directory = ''
const opened: Connection[] = []

beforeEach(() => {
  directory = mkdtempSync(join(databasePlace, 'embedded-copy-'))
})
afterEach(async () => {
  for (const connection of opened.splice(0)) await connection.close()
  rmSync(directory, { recursive: true, force: true })
})

test('writes continue while a copy is made, and the copy is consistent', async () => {
  const { sql } = await open(directory)
  await sql.unsafe(`
    create table accounts (id int primary key, amount int not null, filling text not null);
    insert into accounts select g, 100, repeat(md5(g::text), 20) from generate_series(1, 5000) g;
    create table steps (id int primary key)`)
  const copied = join(directory, 'copied')
  mkdirSync(copied)
  let isCopied = false
  const copying = copyCluster(sql, directory, copied).finally(() => {
    isCopied = true
  })
  let steps = 0
  while (!isCopied) await changeMuch(sql, ++steps)
  await copying
  expect(steps).toBeGreaterThan(1)
  expect(await sql`select slot_name from pg_replication_slots`).toHaveLength(0)

  const copy = await open(copied)
  const [found] = await copy.sql`
    select sum(amount)::int as amount, count(*)::int as accounts, (select coalesce(max(id), 0) from steps) as last,
      (select count(*)::int from steps) as steps from accounts`
  expect(found).toMatchObject({ amount: 500_000, accounts: 5_000, steps: found?.last })
  await copy.sql`set enable_seqscan = off`
  for (const id of [1, 1234, 5_000])
    expect(await copy.sql`select id from accounts where id = ${id}`).toHaveLength(1)
  // Each continues independently.
  await copy.sql`insert into steps values (-1)`
  expect(await sql`select 1 from steps where id = -1`).toHaveLength(0)
}, 60_000)

test('a database continues if no copy can be made, and the next copy succeeds', async () => {
  const { sql } = await open(directory)
  const missing = join(directory, 'nowhere', 'at all')
  await expect(copyCluster(sql, directory, missing)).rejects.toThrow('ENOENT')
  const taken = join(directory, 'taken')
  mkdirSync(join(taken, 'postgres'), { recursive: true })
  await expect(copyCluster(sql, directory, taken)).rejects.toThrow('EEXIST')
  const copied = join(directory, 'copied')
  mkdirSync(copied)
  await copyCluster(sql, directory, copied)
  expect(await (await open(copied)).sql`select 1 as one`).toHaveLength(1)
}, 60_000)

async function open(dataDir: string): Promise<Connection> {
  const connection = await openDatabase(readConfig({ DATA_DIR: dataDir }, generateKeys), () => {})
  opened.push(connection)
  return connection
}

/** Moves amounts between all accounts, grows, creates and drops tables, and checkpoints as the log grows. */
async function changeMuch(sql: Sql, step: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`update accounts set amount = amount + case when id % 2 = 0 then ${step}::int else -${step}::int end
      where id % 20 in (${2 * (step % 10)}, ${2 * (step % 10) + 1})`
    await tx`insert into steps values (${step})`
  })
  await sql.unsafe(`create table passing as select g from generate_series(1, 1000) g`)
  await sql.unsafe('drop table passing')
  if (step % 3 === 0) await sql.unsafe('checkpoint')
}
