/** Counts blobs by their outer layer key. */
import type { Sql } from 'postgres'
import { parseOuterKeys } from '../../core/crypto/outer_keys.ts'
import { KEY_CHECK, SEALED, selectOuterKeyId } from '../../database/schema/sealed.ts'
import { withLongLockTimeout } from './reseal.ts'

/** Counts rows with an unknown key ID. These IDs are untrusted, so they are not listed individually. */
export const UNKNOWN = 'unknown'

/** The column of the key check value. A start without its key is refused. */
export const CHECK_COUNT = `${KEY_CHECK.table}.${KEY_CHECK.column}`

/** Counts by `table.column`, then by the key's id. */
export type KeyCounts = Record<string, Record<string, number>>

export async function countByKey(sql: Sql, encryptionKey: string): Promise<KeyCounts> {
  const known = parseOuterKeys(encryptionKey).map(({ id }) => `'${id}'`)
  const counts: KeyCounts = {}
  for (const { table, column } of [...SEALED, KEY_CHECK]) {
    const id = selectOuterKeyId(column)
    const rows = await withLongLockTimeout(sql, (tx) =>
      tx.unsafe<{ key: string; count: number }[]>(
        `select case when ${id} in (${known}) then ${id} else '${UNKNOWN}' end as key, count(*)::float8 as count
         from ${table} where ${column} is not null group by 1 order by 1`,
      ),
    )
    counts[`${table}.${column}`] = Object.fromEntries(rows.map(({ key, count }) => [key, count]))
  }
  return counts
}

export function countUnder(counts: KeyCounts, isMeant: (key: string) => boolean): number {
  const all = Object.values(counts).flatMap((byKey) => Object.entries(byKey))
  return all.reduce((sum, [key, count]) => sum + (isMeant(key) ? count : 0), 0)
}
