/**
 * Reads a list as one value. The driver and drizzle create objects, texts and dates for each row and column, which
 * costs several times as much as the statement. Here, the database writes each column as an array of JSON, and a column
 * of bytes as one string. Each is read as a whole, so a list must be bounded.
 */
import { Column, is, type SQL, sql } from 'drizzle-orm'
import type { Subquery } from 'drizzle-orm/subquery'
import type { Reading } from './open.ts'
import { prepareOnce } from './prepared.ts'

type Values = Record<string, unknown>

/** A select in the order of its list, with placeholders for values that differ between calls. */
type Selection<Row> = {
  as(alias: 'rows'): Subquery<'rows', Values>
  _: { result: Row[] }
}

/** Times are as on the wire. */
type Listed<Row> = { [Name in keyof Row]: Row[Name] extends Date ? string : Row[Name] }

type Kind = 'value' | 'time' | 'bytes'

/** Made once, like `prepared`. `bytes` names the column of bytes. */
export function prepareList<Row extends Values>(
  name: string,
  select: (db: Reading) => Selection<Row>,
  bytes?: keyof Row & string,
): (db: Reading, values: Values) => Promise<Listed<Row>[]> {
  let columns: { column: string; field: unknown; kind: Kind }[] = []
  const list = prepareOnce((db) => {
    const rows = select(db).as('rows')
    columns = Object.entries(rows._.selectedFields).map(([column, field]) => ({
      column,
      field,
      kind: column === bytes ? ('bytes' as const) : kindOf(field),
    }))
    const arrays = columns.map(({ field, kind }) =>
      kind === 'bytes' ? sql`json_agg(octet_length(${field}))` : sql`json_agg(${field})`,
    )
    return db
      .select({
        arrays: sql<string>`json_build_array(${sql.join(arrays, sql`, `)})::text`,
        bytes: bytes ? sql<Uint8Array>`string_agg(${rows._.selectedFields[bytes]}, '')` : NOTHING,
      })
      .from(rows)
      .prepare(name)
  })
  return async (db, values) => {
    const [found] = await list(db).execute(values)
    // Without a row there are no arrays.
    const arrays: (unknown[] | null)[] = JSON.parse(found?.arrays ?? '[]')
    const read = columns.map(({ column, kind }, at) => ({
      column,
      entries: entriesOf[kind](arrays[at] ?? [], found?.bytes ?? null),
    }))
    return (read[0]?.entries ?? []).map((_, row) => {
      const object: Values = {}
      for (const { column, entries } of read) object[column] = entries[row]
      return object as Listed<Row>
    })
  }
}

const NOTHING: SQL<null> = sql`null`

function kindOf(field: unknown): Kind {
  return is(field, Column) && field.dataType === 'date' ? 'time' : 'value'
}

const entriesOf: Record<Kind, (entries: unknown[], bytes: Uint8Array | null) => unknown[]> = {
  value: (entries) => entries,
  time: (entries) => entries.map((time) => (typeof time === 'string' ? onTheWire(time) : time)),
  bytes: (lengths, bytes) => {
    let end = 0
    return lengths.map((length) => {
      if (typeof length !== 'number' || !bytes) return null
      end += length
      return bytes.subarray(end - length, end)
    })
  },
}

/** PostgreSQL writes no zeros at the end of a fraction, and the zone of the session. */
export function onTheWire(time: string): string {
  if (!time.endsWith('+00:00')) return new Date(time).toISOString()
  const local = time.slice(0, -6)
  // Nine of ten: 2026-11-22T10:00:00.123.
  if (local.length === 23) return `${local}Z`
  return `${(local.includes('.') ? local : `${local}.`).padEnd(23, '0')}Z`
}
