/** What the operations on accounts share. */
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import type { OuterLayer } from '../../platform/crypto/outer_layer.ts'
import type { Database } from '../../platform/db/open.ts'
import { RateLimiter } from '../../platform/http/rate.ts'
import { openFakeSalts } from './fake_salt.ts'
import { openPasswords, type Passwords } from './passwords.ts'
import { PasswordThrottle } from './throttle.ts'

export type AccountServices = {
  db: Database
  outer: OuterLayer
  registration: Config['REGISTRATION']
  passwords: Passwords
  throttle: PasswordThrottle
  fakeSalt: (email: string) => string
  /** Asking for public keys tells who is registered: so often per person, as for log-ins. */
  lookUps: RateLimiter
}

export function openAccountServices(services: {
  db: Database
  outer: OuterLayer
  clock: Clock
  config: Config
}): AccountServices {
  const { db, outer, clock, config } = services
  return {
    db,
    outer,
    registration: config.REGISTRATION,
    passwords: openPasswords(),
    throttle: new PasswordThrottle(clock),
    fakeSalt: openFakeSalts(config.SECRET_KEY),
    lookUps: new RateLimiter(config.RATE_LOGIN, clock),
  }
}
