/** How long deleted rows can be restored, by the database's clock (protocol 5.4, 5.5). */
import { type AnyColumn, gt, lte, type SQL, sql } from 'drizzle-orm'

const LIMIT: SQL = sql`now() - interval '7 days'`

/** Whether a row deleted at that time can still be restored. */
export const isRestorable = (deletedAt: AnyColumn): SQL => gt(deletedAt, LIMIT)
export const isOverdue = (deletedAt: AnyColumn): SQL => lte(deletedAt, LIMIT)
