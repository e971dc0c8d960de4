/** How many blobs there are under each key of the outer layer. */
import type { Sql } from 'postgres'
import { outerKeysIn } from '../../core/crypto/outer_keys.ts'
import { KEY_CHECK, SEALED, sealedUnder } from '../../database/schema/sealed.ts'
import { withLongLockTimeout } from './reseal.ts'

/** Counts rows under no key of ENCRYPTION_KEY: anybody could write ids there, so they are not listed singly. */
export const UNKNOWN = 'unknown'

/** The column that counts the proof that a key opens the data. A start without that proof's key is refused. */
export const CHECK_COUNT = `${KEY_CHECK.table}.${KEY_CHECK.column}`

/** Counts by `table.column`, then by the key's id. */
export type KeyCounts = Record<string, Record<string, number>>

export async function countByKey(sql: Sql, encryptionKey: string): Promise<KeyCounts> {
  const known = outerKeysIn(encryptionKey).map(({ id }) => `'${id}'`)
  const counts: KeyCounts = {}
  for (const { table, column } of [...SEALED, KEY_CHECK]) {
    const id = sealedUnder(column)
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
