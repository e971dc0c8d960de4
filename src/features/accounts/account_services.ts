/** What the operations on accounts share. */
import type { Config } from '../../platform/config/config.ts'
import type { OuterLayer } from '../../platform/crypto/outer_layer.ts'
import type { Pepper } from '../../platform/crypto/pepper.ts'
import type { Database } from '../../platform/db/open.ts'
import { RateLimiter } from '../../platform/http/rate.ts'
import type { FeatureServices } from '../../platform/services.ts'
import { openFakeSalts } from './fake_salt.ts'
import { openPasswords, type Passwords } from './passwords.ts'
import { PasswordThrottle } from './throttle.ts'

export type AccountServices = {
  db: Database
  outer: OuterLayer
  pepper: Pepper
  registration: Config['REGISTRATION']
  ownerCode: Config['OWNER_CODE']
  passwords: Passwords
  throttle: PasswordThrottle
  fakeSalt: (email: string) => string
  /** Asking for public keys tells who is registered: so often per person, as for log-ins. */
  lookUps: RateLimiter
  /** New keys of an account: each takes a link of every signed workspace, also of others'. */
  rotations: RateLimiter
}

const ROTATIONS = { count: 10, seconds: 86_400 }

export function openAccountServices({
  db,
  outer,
  pepper,
  clock,
  config,
}: FeatureServices): AccountServices {
  return {
    db,
    outer,
    pepper,
    registration: config.REGISTRATION,
    ownerCode: config.OWNER_CODE,
    passwords: openPasswords(pepper),
    throttle: new PasswordThrottle(clock),
    fakeSalt: openFakeSalts(config.SECRET_KEY),
    lookUps: new RateLimiter(config.RATE_LOGIN, clock),
    rotations: new RateLimiter(ROTATIONS, clock),
  }
}
