/** What the operations on accounts share. */
import type { Config } from '../../platform/config/config.ts'
import type { OuterLayer } from '../../platform/crypto/outer_layer.ts'
import type { Pepper } from '../../platform/crypto/pepper.ts'
import type { Database } from '../../platform/db/open.ts'
import { openBackoff } from '../../platform/limits/shared_backoff.ts'
import { openRate, type SharedLimiter } from '../../platform/limits/shared_rate.ts'
import type { QuotaConfig } from '../../platform/quotas.ts'
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
  quotas: QuotaConfig
  fakeSalt: (email: string) => string
  /** Asking for public keys tells who is registered: so often per person, as for log-ins. */
  lookUps: SharedLimiter
  /** New keys of an account: each takes a link of every signed workspace, also of others'. */
  rotations: SharedLimiter
}

const ROTATIONS = { count: 10, seconds: 86_400 }

export function openAccountServices(services: FeatureServices): AccountServices {
  const { db, outer, pepper, config } = services
  return {
    db,
    outer,
    pepper,
    registration: config.REGISTRATION,
    ownerCode: config.OWNER_CODE,
    passwords: openPasswords(pepper, services.passwordCost),
    throttle: new PasswordThrottle(openBackoff(services)),
    quotas: config,
    fakeSalt: openFakeSalts(services.preloginKey),
    lookUps: openRate(services, 'look-up', config.RATE_LOGIN),
    rotations: openRate(services, 'rotation', ROTATIONS),
  }
}
