/** One row about this installation. */
import { pgTable, smallint } from 'drizzle-orm/pg-core'
import { bytes, createdAt } from './columns.ts'

export const instance = pgTable('instance', {
  id: smallint().primaryKey().default(1),
  /** A known text under ENCRYPTION_KEY: proves at start that the key opens the data. */
  keyCheck: bytes().notNull(),
  createdAt: createdAt(),
})
