/**
 * Rows as text and back, exactly: each row is the text that PostgreSQL itself writes and reads. So microseconds, bytes,
 * unformatted JSON and arrays need no code here, and both databases have equal texts for equal rows.
 */
import type { TransactionSql } from 'postgres'
import {
  type BackupTable,
  type FoundTable,
  readExpectedTables,
  requireAsMade,
  tablesNamed,
} from './expected.ts'
import { BackupProblem } from './problem.ts'

/** Rows per query. */
const ROWS_AT_ONCE = 200

/** Bytes of a row's text. Its JSON is at most six times as long, so that its line can be read again (file.ts). */
export const MAX_ROW_BYTES = 10 * 1024 * 1024

/** Fixes the settings that rows' texts depend on, lifts time limits, and makes hidden rows an error. */
export async function makeTextsExact(tx: TransactionSql): Promise<void> {
  await tx.unsafe(`set local row_security = off; set local timezone = 'UTC'; set local datestyle = 'ISO, YMD';
    set local intervalstyle = 'postgres'; set local bytea_output = 'hex';
    set local extra_float_digits = 1; set local statement_timeout = 0;
    set local idle_in_transaction_session_timeout = 0`)
}

/**
 * Our tables except unlogged ones, in foreign key order. Other programs may have tables in the same schema.
 *
 * @param own made by the migrations that were applied
 * @throws BackupProblem for a missing or changed table, whose rows would be incomplete or not restorable
 */
export async function tablesOf(
  tx: TransactionSql,
  own?: readonly string[],
): Promise<BackupTable[]> {
  const expected = own === undefined ? await readExpectedTables(tx) : tablesNamed(own)
  const names = JSON.stringify([...expected.keys()])
  const found = await tx<FoundTable[]>`
    select c.relname as name, c.relnamespace::regnamespace::text as schema, c.relpersistence as persistence,
      c.relrowsecurity as hides,
      (select string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' order by attnum)
        from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
      coalesce((select string_agg('t.' || quote_ident(attname)
          || case when attcollation = 0 then '' else ' collate "C"' end, ', ' order by place)
        from pg_index i cross join unnest(i.indkey::int2[]) with ordinality as part(number, place)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = part.number
        where i.indrelid = c.oid and i.indisprimary), 't::text collate "C"') as "order"
    from json_array_elements_text(${names}::text::json) as wanted
      join pg_class c on c.oid = to_regclass(quote_ident(wanted)) and c.relkind in ('r', 'p')
    order by c.relname collate "C"`
  requireAsMade(expected, found)
  const references = await tx<{ from: string; to: string }[]>`
    select f.relname as "from", t.relname as "to" from pg_constraint
      join pg_class f on f.oid = conrelid join pg_class t on t.oid = confrelid
    where contype = 'f' and conrelid <> confrelid
      and conrelid in (select to_regclass(quote_ident(own)) from json_array_elements_text(${names}::text::json) own)`
  const tables = found.map(({ name, columns, order }) => ({ name, columns, order }))
  return sortTables(tables, references)
}

function sortTables(
  tables: readonly BackupTable[],
  references: readonly { from: string; to: string }[],
): BackupTable[] {
  const ordered: BackupTable[] = []
  const isDone = (name: string) => ordered.some((table) => table.name === name)
  while (ordered.length < tables.length) {
    const next = tables.find(
      ({ name }) =>
        !isDone(name) && references.every(({ from, to }) => from !== name || isDone(to)),
    )
    if (!next) throw new Error('tables refer to each other circularly')
    ordered.push(next)
  }
  return ordered
}

/**
 * Passes on all rows of a table, in groups, with their lines in a backup.
 *
 * @throws BackupProblem if a row is longer than any that Cloakroom makes, or the count differs from the database's
 */
export async function readTable(
  tx: TransactionSql,
  table: BackupTable,
  take: (rows: string[], lines: string[]) => Promise<void> = async () => {},
): Promise<Sum> {
  const tally = new Tally()
  const query = `select length::int, case when length <= ${MAX_ROW_BYTES} then row end as row from ${quoteName(table.name)} t
    cross join lateral (select t::text as row offset 0) made cross join lateral (select octet_length(row) as length offset 0) measured
    order by ${table.order}`
  for await (const found of tx.unsafe<Measured[]>(query).cursor(ROWS_AT_ONCE)) {
    const rows = found.map(({ row, length }) => row ?? refuse(table.name, length))
    const lines = rows.map((row) => tally.add(row))
    await take(rows, lines)
  }
  const sum = tally.sum()
  const counting = `select count(*)::float8 as rows from ${quoteName(table.name)}`
  const [counted] = await tx.unsafe<{ rows: number }[]>(counting)
  if (counted?.rows !== sum.rows)
    throw new BackupProblem(
      'failed',
      `only ${sum.rows} of ${counted?.rows} rows of the table ${table.name} were read`,
    )
  return sum
}

type Measured = { row: string | null; length: number }

function refuse(table: string, length: number): never {
  throw new BackupProblem(
    'failed',
    `the table ${table} has a row of ${length} bytes; the limit is ${MAX_ROW_BYTES}`,
  )
}

/** Inserts rows in the text form of `readTable`. */
export async function insertRows(tx: TransactionSql, { name }: BackupTable, rows: string[]) {
  await tx.unsafe(
    `insert into ${quoteName(name)} select (made.r).* from json_array_elements_text($1::text::json) as line
      cross join lateral (select line::${quoteName(name)} as r offset 0) made`,
    [JSON.stringify(rows)],
  )
}

/** How a trigger fires, by the letter that PostgreSQL has for it; one that is disabled stays so. */
const ENABLED: Record<string, string> = { O: 'enable', R: 'enable replica', A: 'enable always' }

/** Runs the work without triggers that count or announce inserted rows: that happened when the rows were created. */
export async function withoutTriggers(
  tx: TransactionSql,
  tables: readonly BackupTable[],
  work: () => Promise<void>,
): Promise<void> {
  const back: string[] = []
  for (const { name } of tables) {
    const triggers = await tx<{ tgname: string; tgenabled: string }[]>`
      select tgname, tgenabled::text from pg_trigger
      where tgrelid = ${quoteName(name)}::text::regclass and not tgisinternal`
    for (const { tgname, tgenabled } of triggers) {
      const how = ENABLED[tgenabled]
      if (how) back.push(`alter table ${quoteName(name)} ${how} trigger ${quoteName(tgname)}`)
    }
    await tx.unsafe(`alter table ${quoteName(name)} disable trigger user`)
  }
  await work()
  for (const statement of back) await tx.unsafe(statement)
}

/** The first table with rows. */
export async function findRows(
  tx: TransactionSql,
  tables: readonly BackupTable[],
): Promise<string | null> {
  for (const { name } of tables) {
    const [row] = await tx.unsafe(`select 1 from ${quoteName(name)} limit 1`)
    if (row) return name
  }
  return null
}

/** Whether the rows of one table fit into the other. */
export function areSame(some: readonly Shape[], others: readonly Shape[]): boolean {
  const shape = (tables: readonly Shape[]) =>
    JSON.stringify(tables.map(({ name, columns }) => [name, columns]))
  return shape(some) === shape(others)
}

type Shape = Pick<BackupTable, 'name' | 'columns'>

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Counts rows and hashes them in their order. */
export class Tally {
  rows = 0
  readonly #hasher = new Bun.CryptoHasher('sha256')

  /** @returns the row as a line. */
  add(row: string): string {
    const line = `${JSON.stringify(row)}\n`
    this.rows += 1
    this.#hasher.update(line)
    return line
  }

  sum(): Sum {
    return { rows: this.rows, sha256: this.#hasher.copy().digest('hex') }
  }
}

/** The checksum of a table: equal checksums mean equal contents. */
type Sum = { rows: number; sha256: string }
