/** Figures about the whole installation, by day (UTC): counts, never contents. */
import { bigint, date, integer, jsonb, pgTable, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { moment } from './columns.ts'

const count = () => bigint({ mode: 'number' }).notNull()

export const dailyMetrics = pgTable('daily_metrics', {
  date: date({ mode: 'string' }).primaryKey(),
  totalUsers: count(),
  newUsers: count(),
  totalWorkspaces: count(),
  totalProjects: count(),
  totalSecrets: count(),
  totalAgents: count(),
  activeTokens: count(),
  /** Distinct people with authenticated activity that day, and in the 7 and 30 days ending with it. */
  dau: count(),
  wau: count(),
  mau: count(),
  resolverCalls: count(),
  resolverBlocked: count(),
  resolverRedacted: count(),
  resolverErrors: count(),
  activeAgents: count(),
  /** Null on a day without a call that was carried out. */
  resolverP50Ms: integer(),
  resolverP95Ms: integer(),
  workloadDeliveries: count(),
  topDomains: jsonb().$type<{ domain: string; calls: number }[]>().notNull(),
  /** A row that was computed after its day had ended is final but for what was deleted since. */
  computedAt: moment().notNull(),
})

/** Who was active on which day. No foreign key: activity outlives the account. */
export const userActivity = pgTable(
  'user_activity',
  { day: date({ mode: 'string' }).notNull(), userId: uuid().notNull() },
  (table) => [primaryKey({ columns: [table.day, table.userId] })],
)
