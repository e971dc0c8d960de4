/** The services of a feature: passed by app.ts, never global. */

import type { BodyMemory } from '../core/body_memory.ts'
import type { Clock } from '../core/clock.ts'
import type { Config } from '../core/config/config.ts'
import type { OuterLayer } from '../core/crypto/outer_layer.ts'
import type { Pepper } from '../core/crypto/pepper.ts'
import type { Log } from '../core/log.ts'
import type { PasswordCost } from '../core/password_cost.ts'
import type { LiveProcesses } from '../database/limits/sharers.ts'
import type { Database } from '../database/open.ts'

export type FeatureServices = {
  db: Database
  outer: OuterLayer
  pepper: Pepper
  /** Null in a resolver on PostgreSQL, which serves no accounts. */
  preloginKey: Uint8Array | null
  clock: Clock
  passwordCost: PasswordCost
  config: Config
  /** The processes that share limits. */
  live: LiveProcesses
  /** For the bodies of this process. */
  bodies: BodyMemory
  log: Log
  /** Whether this process received a stop signal: it finishes its work and accepts no more. */
  isStopping(): boolean
}
