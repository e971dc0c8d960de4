/** The tables and columns that the applied migrations created. */

import { is } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import type { TransactionSql } from 'postgres'
import { migrations } from '../../database/migrations/migrate.ts'
import * as schema from '../../database/schema/index.ts'
import { BackupProblem } from './problem.ts'

const CHANGES = /^(create|drop) table "?(\w+)"?/gim

/** Columns by table; null if unknown. */
type Expected = ReadonlyMap<string, string[] | null>

/** The `format_type` of each table's columns; null for an older schema, because its columns are not listed here. */
export async function readExpectedTables(tx: TransactionSql): Promise<Expected> {
  const [made] = await tx`select to_regclass('cloakroom_migrations') is not null as yes`
  if (!made?.yes) return new Map()
  const rows = await tx<{ name: string }[]>`select name from cloakroom_migrations`
  const applied = new Set(rows.map(({ name }) => name))
  const isWhole = migrations.every(({ name }) => applied.has(name))
  const names = new Set<string>()
  for (const { name, text } of migrations) {
    if (!applied.has(name)) continue
    for (const [, change = '', found = ''] of text.matchAll(CHANGES)) {
      if (change.toLowerCase() === 'create') names.add(found)
      else names.delete(found)
    }
  }
  return new Map([...names].map((name) => [name, isWhole ? (COLUMNS.get(name) ?? []) : null]))
}

/** Returns a type as PostgreSQL writes it, without a space before the precision. */
const typeOf = (column: { getSQLType(): string }) => column.getSQLType().replace(' (', '(')

const COLUMNS = new Map(
  Object.values(schema).flatMap((table) => {
    if (!is(table, PgTable)) return []
    const { name, columns } = getTableConfig(table)
    return [
      [name, columns.map((column) => `${toSnakeCase(column.name)} ${typeOf(column)}`)] as const,
    ]
  }),
)

export const tablesNamed = (names: readonly string[]): Expected =>
  new Map(names.map((name) => [name, null]))

export type BackupTable = {
  name: string
  /** Names and types in their order: rows fit only if these are equal. */
  columns: string
  /** An order that is equal in both databases, for any collation. */
  order: string
}

export type FoundTable = BackupTable & { schema: string; persistence: string; hides: boolean }

/** @throws BackupProblem for a missing or changed table */
export function requireAsMade(expected: Expected, found: readonly FoundTable[]): void {
  const [first] = found
  for (const [name, columns] of expected) {
    const problems = problemsOf(
      found.find((each) => each.name === name),
      { columns, schema: first?.schema },
    )
    if (problems.length > 0)
      throw new BackupProblem('failed', `the table ${name} was changed: ${problems.join(', ')}`)
  }
}

type Wanted = { columns: string[] | null; schema: string | undefined }

function problemsOf(table: FoundTable | undefined, { columns, schema }: Wanted): string[] {
  if (!table) return ['it is missing']
  const there = table.columns.split(', ').map((column) => column.replaceAll('"', ''))
  const made = columns ?? there
  return [
    ...(table.schema === schema
      ? []
      : [`it is in the schema ${table.schema}, but other tables are in ${schema}`]),
    ...(table.persistence === 'p' ? [] : ['it is unlogged or temporary']),
    ...(table.hides ? ['row-level security may hide rows'] : []),
    ...made.filter((column) => !there.includes(column)).map((column) => `${column} is missing`),
    ...there.filter((column) => !made.includes(column)).map((column) => `${column} was added`),
  ]
}

/** @throws BackupProblem if a rule or trigger would change inserted rows */
export async function demandNoRules(
  tx: TransactionSql,
  tables: readonly BackupTable[],
): Promise<void> {
  const names = JSON.stringify(tables.map(({ name }) => name))
  const [rule] = await tx<{ rulename: string; table: string }[]>`
    select rulename, ev_class::regclass::text as table from pg_rewrite where ev_class in (
      select to_regclass(quote_ident(name)) from json_array_elements_text(${names}::text::json) name) limit 1`
  if (rule)
    throw new BackupProblem('failed', `the table ${rule.table} has the rule ${rule.rulename}`)
}
