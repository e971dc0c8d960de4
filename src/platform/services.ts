/** What a feature is built from: handed down by app.ts, never a global. */
import type { Clock } from './clock.ts'
import type { Config } from './config/config.ts'
import type { OuterLayer } from './crypto/outer_layer.ts'
import type { Pepper } from './crypto/pepper.ts'
import type { Database } from './db/open.ts'
import type { BodyMemory } from './limits/body_memory.ts'
import type { LiveProcesses } from './limits/sharers.ts'
import type { Log } from './log.ts'
import type { PasswordCost } from './password_cost.ts'

export type FeatureServices = {
  db: Database
  outer: OuterLayer
  pepper: Pepper
  /** Null in a resolver on PostgreSQL, which serves no accounts. */
  preloginKey: Uint8Array | null
  clock: Clock
  passwordCost: PasswordCost
  config: Config
  /** Among whom limits are divided. */
  live: LiveProcesses
  /** For the bodies of this process. */
  bodies: BodyMemory
  log: Log
  /** Whether this process was told to stop: it finishes, and wants no more. */
  isStopping(): boolean
}
