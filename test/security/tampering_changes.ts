/**
 * Each change that an attacker with the database could make to one column or one row, generated from the schema:
 * empty, another row's value, another workspace's value, or an earlier value.
 */
import { getTableColumns, is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import * as schema from '../../src/database/schema/index.ts'
import type { TestApp } from '../support/app.ts'

type Sql = TestApp['connection']['sql']

/** Columns and whether they may be null, by the names of SQL. */
export const tables: Record<
  string,
  Record<string, { type: string; nullable: boolean }>
> = Object.fromEntries(
  Object.values(schema).flatMap((table) =>
    is(table, PgTable) ? [[getTableConfig(table).name, columnsOf(table)] as const] : [],
  ),
)

function columnsOf(table: PgTable) {
  return Object.fromEntries(
    Object.values(getTableColumns(table)).map((column) => [
      column.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      { type: column.getSQLType(), nullable: !column.notNull },
    ]),
  )
}

/** Conditions: which rows are changed, and which others there are. */
export type RowsOf = {
  used: readonly string[]
  other: string
  foreign: string
  /** All rows of the target, to be deleted together. */
  all?: string
  /** The columns that stay when a row becomes another. */
  key: readonly string[]
  /** The columns of an inserted row of another workspace. */
  inserted: Record<string, unknown>
  /** Values for columns that are the same in all of these rows, in SQL. */
  made?: Record<string, string>
}

export type Tampering = {
  /** The column, or the change of the row. */
  subject: string
  name: string
  /** Whether that changed anything. */
  apply(sql: Sql): Promise<boolean>
}

/** In addition to the columns. */
export const ROW_SUBJECTS = ['replaced', 'deleted', 'inserted']

export async function keepAs(sql: Sql, name: 'older' | 'saved', tables: readonly string[]) {
  await sql.unsafe(`create schema ${name}`)
  for (const table of tables) await sql.unsafe(`create table ${name}.${table} as table ${table}`)
}

/** An attacker who writes in a database can bypass its unique, check and foreign key constraints. */
export async function dropConstraints(sql: Sql, tables: readonly string[]) {
  const list = tables.map((table) => `'${table}'`).join()
  const found = await sql.unsafe<{ table: string; name: string }[]>(`
    select conrelid::regclass::text as table, conname as name from pg_constraint
    where contype in ('f', 'u', 'c')
      and (conrelid::regclass::text in (${list}) or confrelid::regclass::text in (${list}))`)
  for (const { table, name } of found)
    await sql.unsafe(`alter table ${table} drop constraint "${name}"`)
  await sql.unsafe('drop index agents_live_name')
  // IDs that were used before, too.
  const triggers = await sql.unsafe<{ table: string; name: string }[]>(`
    select tgrelid::regclass::text as table, tgname as name from pg_trigger
    where tgname like '%\\_used\\_id' or tgname like '%\\_remember\\_id'`)
  for (const { table, name } of triggers) await sql.unsafe(`drop trigger "${name}" on ${table}`)
}

export async function putBack(sql: Sql, name: string) {
  await sql.begin(async (tx) => {
    await tx.unsafe(`delete from ${name}`)
    await tx.unsafe(`insert into ${name} select * from saved.${name}`)
  })
}

export function tamperingsOf(table: string, rows: RowsOf): Tampering[] {
  return rows.used.flatMap((used) => [
    ...Object.keys(tables[table] ?? {}).flatMap((column) => ofColumn(table, column, used, rows)),
    ...ofRow(table, used, rows),
  ])
}

function sourcesOf(table: string, used: string, { other, foreign }: RowsOf) {
  return Object.entries({
    'of another row': `${table} where ${other}`,
    'of another workspace': `${table} where ${foreign}`,
    'of an older copy': `older.${table} where ${used}`,
  })
}

function ofColumn(table: string, column: string, used: string, rows: RowsOf): Tampering[] {
  const { type, nullable } = tables[table]?.[column] ?? { type: '', nullable: false }
  const sources = sourcesOf(table, used, rows)
  const made = rows.made?.[column]
  const values = [
    ...sources.map(([kind, from]) => [kind, `(select ${column} from ${from})`] as const),
    ...(nullable ? [['null', 'null'] as const] : []),
    ...(type === 'uuid' ? [['of nothing', `'${Bun.randomUUIDv7()}'`] as const] : []),
    ...(made ? [['made up', made] as const] : []),
  ]
  return values.map(([kind, value]) => ({
    subject: column,
    name: `${column} ${kind}`,
    apply: changing(`update ${table} set ${column} = ${value}
      where ${used} and ${column}::text is distinct from ${value}::text returning 1`),
  }))
}

function ofRow(table: string, used: string, rows: RowsOf): Tampering[] {
  const columns = Object.keys(tables[table] ?? {}).filter((column) => !rows.key.includes(column))
  const replaced = sourcesOf(table, used, rows).map(([kind, from]) => ({
    subject: 'replaced',
    name: `the row ${kind}`,
    apply: changing(`update ${table} set (${columns}) = (select ${columns} from ${from})
      where ${used} and exists (select from ${from}) returning 1`),
  }))
  const inserted = JSON.stringify(rows.inserted)
  return [
    ...replaced,
    {
      subject: 'deleted',
      name: 'no row',
      apply: changing(`delete from ${table} where ${used} returning 1`),
    },
    ...(rows.all && used === rows.used[0]
      ? [
          {
            subject: 'deleted',
            name: 'no rows at all',
            apply: changing(`delete from ${table} where ${rows.all} returning 1`),
          },
        ]
      : []),
    {
      subject: 'inserted',
      name: 'one row more',
      apply: changing(`insert into ${table} select (jsonb_populate_record(s, '${inserted}')).*
        from ${table} s where ${rows.foreign} returning 1`),
    },
  ]
}

/** A row with another row's key, or without a required value, cannot exist in the database. */
const IMPOSSIBLE = ['23505', '23502']

function changing(statement: string): Tampering['apply'] {
  return async (sql) => {
    try {
      return (await sql.unsafe(statement)).length > 0
    } catch (error) {
      if (IMPOSSIBLE.includes((error as { code?: string }).code ?? '')) return false
      throw error
    }
  }
}
