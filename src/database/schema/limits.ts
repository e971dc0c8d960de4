/** Usage of limited tokens (protocol 6.3). Tokens without limits have no rows. */
import { bigint, date, index, pgTable, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { moment } from './columns.ts'

/** Sums of one token and day, UTC. */
export const tokenDays = pgTable(
  'token_days',
  {
    tokenId: uuid().notNull(),
    day: date({ mode: 'string' }).notNull(),
    calls: bigint({ mode: 'number' }).notNull().default(0),
    bytes: bigint({ mode: 'number' }).notNull().default(0),
    modelTokens: bigint({ mode: 'number' }).notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.tokenId, table.day] })],
)

/** Calls that run now. A row counts until `until`, which the process puts off while the call lasts. */
export const tokenCalls = pgTable(
  'token_calls',
  {
    callId: uuid().primaryKey(),
    tokenId: uuid().notNull(),
    until: moment().notNull(),
  },
  (table) => [index().on(table.tokenId)],
)
