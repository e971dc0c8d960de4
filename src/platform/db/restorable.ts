/** How long a deleted project can be restored, by the database's clock (protocol 5.4). */
import { gt, lte, type SQL, sql } from 'drizzle-orm'
import { deletedProjects } from './schema/index.ts'

const LIMIT: SQL = sql`now() - interval '7 days'`

export const isRestorable: SQL = gt(deletedProjects.deletedAt, LIMIT)
export const isOverdue: SQL = lte(deletedProjects.deletedAt, LIMIT)
