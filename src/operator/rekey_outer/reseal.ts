/**
 * Reseals a batch of rows of one column with the first key. Rows that changed meanwhile or are locked are skipped, so
 * no concurrent write is lost, blocked or deadlocked.
 */
import type { Sql, TransactionSql } from 'postgres'
import { toBase64 } from '../../core/crypto/encoding.ts'
import type { OuterLayer, OuterPart, Stored } from '../../core/crypto/outer_layer.ts'
import { sha256 } from '../../core/crypto/primitives.ts'
import { KEY_CHECK, type SealedColumn, selectOuterKeyId } from '../../database/schema/sealed.ts'

/** A row with a blob that is not sealed with the first key. */
export type Row = Stored & { primaryKey: string[]; salt: string }

/** The id of the key in the blob's header, or `null` if the blob is too short. */
export type Unreadable = { table: string; column: string; row: string[]; key: string | null }

export type Resealed = { resealed: number; unreadable: Unreadable[] }

/** Signals to triggers that the content is unchanged (drizzle/0019_resealing.sql). */
const SAME_CONTENT = `select set_config('cloakroom.resealing', 'on', true)`

/** Runs a transaction without a time limit, for statements that read all rows. */
export function withLongLockTimeout<T>(
  sql: Sql,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> {
  return sql.begin('read only', async (tx) => {
    await tx.unsafe('set local statement_timeout = 0')
    return await work(tx)
  }) as Promise<T>
}

/** SQL: whether a row of `t` is not under the key of that id. */
export function isElsewhere({ column }: Pick<SealedColumn, 'column'>, key: string): string {
  return `t.${column} is not null and ${selectOuterKeyId(`t.${column}`)} <> '${key}'`
}

/** The next rows in the order of the primary key. */
export async function readRows(
  sql: Sql,
  sealed: SealedColumn,
  { key, after, limit }: { key: string; after: readonly string[] | null; limit: number },
): Promise<Row[]> {
  const names = sealed.primaryKey.map(([name]) => `t.${name}`)
  const behind = sealed.primaryKey.map(([, type], index) => `$${index + 1}::text::${type}`)
  const next = after === null ? '' : `and (${names}) > (${behind})`
  const query = `
    select json_build_array(${names.map((name) => `${name}::text`)}) as primary_key,
      ${sealed.salt}::text as salt, json_build_array(${sealed.row.map(([, part]) => `${part}::text`)}) as parts,
      t.${sealed.column} as blob
    from ${sealed.table} t ${sealed.join ?? ''}
    where ${isElsewhere(sealed, key)} ${next} order by ${names} limit ${limit}`
  type Read = { primary_key: string[]; salt: string; parts: string[]; blob: Uint8Array }
  const rows = await withLongLockTimeout(sql, (tx) => tx.unsafe<Read[]>(query, [...(after ?? [])]))
  return rows.map(({ primary_key, parts, ...row }) => ({
    ...row,
    primaryKey: primary_key,
    row: sealed.row.map(([kind], index) => partOf(kind, parts[index] ?? '')),
  }))
}

function partOf(kind: SealedColumn['row'][number][0], text: string): OuterPart {
  if (kind === 'u32') return { u32: Number(text) }
  return kind === 'uuid' ? { uuid: text } : { text }
}

/** Reseals rows. A row that was changed meanwhile, or is locked, stays unchanged for the next pass. */
export async function reseal(
  { sql, outer }: { sql: Sql; outer: OuterLayer },
  sealed: SealedColumn,
  rows: readonly Row[],
  dryRun: boolean,
): Promise<Resealed> {
  const opened = await openRows(outer, sealed, rows)
  const unreadable = rows.filter((row) => !opened.has(row))
  const changes = dryRun
    ? []
    : await Promise.all([...opened].map((change) => changeOf(outer, sealed, ...change)))
  return {
    resealed: changes.length === 0 ? 0 : await write(sql, sealed, changes),
    unreadable: unreadable.map(({ primaryKey, blob }) => ({
      table: sealed.table,
      column: sealed.column,
      row: primaryKey,
      key: blob.length < 5 ? null : blob.slice(1, 5).toHex(),
    })),
  }
}

/** Decrypts rows grouped by salt, for a fraction of the cost of single calls. */
async function openRows(outer: OuterLayer, { as }: SealedColumn, rows: readonly Row[]) {
  const opened = new Map<Row, Uint8Array>()
  for (const [salt, some] of Map.groupBy(rows, (row) => row.salt)) {
    const contents = await outer.openAll(as, salt, some)
    some.forEach((row, index) => {
      const content = contents[index]
      if (content) opened.set(row, content)
    })
  }
  return opened
}

type Change = Record<string, string>

async function changeOf(
  outer: OuterLayer,
  { as, primaryKey }: SealedColumn,
  row: Row,
  content: Uint8Array,
): Promise<Change> {
  const names = primaryKey.map(([name], index) => [name, row.primaryKey[index] ?? ''])
  return {
    ...Object.fromEntries(names),
    was: sha256(row.blob).toHex(),
    made: toBase64(await outer.seal(as, row.salt, row.row, content)),
  }
}

async function write(
  sql: Sql,
  { table, column, primaryKey }: SealedColumn,
  changes: readonly Change[],
): Promise<number> {
  const types = [...primaryKey, ['was', 'text'], ['made', 'text']].map((pair) => pair.join(' '))
  const isSame = (one: string, other: string) =>
    primaryKey.map(([name]) => `${one}.${name} = ${other}.${name}`).join(' and ')
  const query = `
    with changes as materialized (select * from json_to_recordset($1::text::json) as c(${types})),
    held as materialized (
      select ${primaryKey.map(([name]) => `t.${name}`)} from ${table} t join changes c on ${isSame('t', 'c')}
      where encode(sha256(t.${column}), 'hex') = c.was for no key update of t skip locked)
    update ${table} t set ${column} = decode(c.made, 'base64')
    from changes c join held h on ${isSame('h', 'c')}
    where ${isSame('t', 'c')} and encode(sha256(t.${column}), 'hex') = c.was`
  return await sql.begin(async (tx) => {
    await tx.unsafe(SAME_CONTENT)
    const written = await tx.unsafe(query, [JSON.stringify(changes)])
    return written.count
  })
}

/** Reseals the proof that the key opens the data, which a start checks. Returns the number of rows: 0 or 1. */
export async function resealCheck({
  sql,
  outer,
  key,
}: {
  sql: Sql
  outer: OuterLayer
  key: string
}): Promise<number> {
  const { table, column } = KEY_CHECK
  const [row] = await sql.unsafe<{ blob: Uint8Array }[]>(
    `select ${column} as blob from ${table} t where ${isElsewhere(KEY_CHECK, key)}`,
  )
  if (!row || !(await outer.openCheck(row.blob))) return 0
  const made = toBase64(await outer.sealCheck())
  const { count } = await sql.begin((tx) =>
    tx.unsafe(
      `update ${table} set ${column} = decode($1::text, 'base64') where ${selectOuterKeyId(column)} <> '${key}'`,
      [made],
    ),
  )
  return count
}
