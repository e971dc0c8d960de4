/** The lines of a backup, from one snapshot: a simultaneous write is included completely or not at all. */
import type { Sql, TransactionSql } from 'postgres'
import { version } from '../../../package.json'
import { parseOuterKeys } from '../../core/crypto/outer_keys.ts'
import { KEY_CHECK, SEALED, selectOuterKeyId } from '../../database/schema/sealed.ts'
import type { BackupTable } from './expected.ts'
import { type BackupSums, FORMAT, type Header, sealOf } from './format.ts'
import { makeTextsExact, readTable, tablesOf } from './rows.ts'

type Source = { sql: Sql; encryptionKey: string; now: () => number }

export type Dumped = { header: Header; sums: BackupSums }

/** Passes the lines on in order, with backpressure. */
export async function dump(
  { sql, encryptionKey, now }: Source,
  take: (text: string) => Promise<void>,
): Promise<Dumped> {
  const [primary] = parseOuterKeys(encryptionKey)
  return await readInSnapshot(sql, async (tx) => {
    const contents = await contentsOf(tx)
    const header = await headerOf(tx, { contents, primary: primary.id, now })
    const hasher = new Bun.CryptoHasher('sha256')
    const put = async (text: string) => {
      hasher.update(text)
      await take(text)
    }
    await put(line(header))
    const sums: BackupSums = {}
    for (const table of contents.tables) {
      await put(line({ table: table.name }))
      sums[table.name] = await readTable(tx, table, (_, lines) => put(lines.join('')))
    }
    await put(line({ sums }))
    await take(line(sealOf(hasher.digest('hex'), primary)))
    return { header, sums }
  })
}

/** Reads everything from one snapshot, with each row as its text in the backup. */
export async function readInSnapshot<T>(
  sql: Sql,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> {
  const { done } = await sql.begin('isolation level repeatable read read only', async (tx) => {
    await makeTextsExact(tx)
    return { done: await work(tx) }
  })
  return done
}

export type Contents = { tables: readonly BackupTable[]; migrations: Header['migrations'] }

export async function contentsOf(tx: TransactionSql): Promise<Contents> {
  const tables = await tablesOf(tx)
  const migrations = await tx<Header['migrations']>`
    select name, sha256 from cloakroom_migrations order by name`
  return { tables, migrations: [...migrations] }
}

type Made = { contents: Contents; primary: string; now: () => number }

async function headerOf(
  tx: TransactionSql,
  { contents: { tables, migrations }, primary, now }: Made,
): Promise<Header> {
  const used = await listUsedKeys(tx, tables)
  return {
    format: FORMAT,
    version,
    created_at: new Date(now()).toISOString(),
    migrations,
    keys: [primary, ...used.filter((id) => id !== primary)],
    tables: tables.map(({ name, columns }) => ({ name, columns })),
  }
}

async function listUsedKeys(tx: TransactionSql, tables: readonly BackupTable[]): Promise<string[]> {
  // An older schema may not have all of them.
  const names = new Set(tables.map(({ name }) => name))
  const parts = [...SEALED, KEY_CHECK]
    .filter(({ table }) => names.has(table))
    .map(
      ({ table, column }) =>
        `select ${selectOuterKeyId(column)} as id from ${table} where ${column} is not null`,
    )
  const rows = await tx.unsafe<{ id: string }[]>(`${parts.join(' union ')} order by id`)
  return rows.map(({ id }) => id)
}

function line(content: object): string {
  return `${JSON.stringify(content)}\n`
}
