/** One row about this installation. */
import { bigint, pgTable, smallint } from 'drizzle-orm/pg-core'
import { bytes, createdAt, moment } from './columns.ts'

export const instance = pgTable('instance', {
  id: smallint().primaryKey().default(1),
  /** A known text under ENCRYPTION_KEY: proves at start that the key opens the data. */
  keyCheck: bytes().notNull(),
  /** Derives the salts of addresses without an account (prelogin_key.ts). Null until a server that has it starts. */
  preloginKey: bytes(),
  createdAt: createdAt(),
  /** Of the newest backup by the clock that a process took upon itself: minutes since 1970. */
  backupMinute: bigint({ mode: 'number' }),
  backedUpAt: moment(),
  /** Unless one succeeded since. */
  backupFailedAt: moment(),
})
