/** Numbers about a database, and how the doctor writes them. */
import type { Connection } from '../../database/open.ts'

export const DAY_MS = 24 * 60 * 60 * 1000

/** `3 tokens`, `1 token`. */
export function count(number: number, one: string): string {
  return `${number} ${number === 1 ? one : `${one}s`}`
}

export function size(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024
  return mebibytes < 1024 ? `${mebibytes.toFixed(1)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`
}

/** Returns one row of numbers. */
export async function numbers<Name extends string>(
  { connection }: { connection: Connection },
  query: string,
  parameters: string[] = [],
): Promise<Record<Name, number>> {
  const row = await connection.sql.begin('read only', async (tx) => {
    await tx.unsafe(`set local statement_timeout = '20s'`)
    const [first] = await tx.unsafe<Record<Name, number>[]>(query, parameters)
    return first
  })
  return (row ?? {}) as Record<Name, number>
}
