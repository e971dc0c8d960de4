/** Shared by the operations on accounts. */
import { createHmac } from 'node:crypto'
import type { Config } from '../../core/config/config.ts'
import type { QuotaConfig } from '../../core/config/quotas.ts'
import { toBase64 } from '../../core/crypto/encoding.ts'
import type { OuterLayer } from '../../core/crypto/outer_layer.ts'
import type { Pepper } from '../../core/crypto/pepper.ts'
import { openBackoff } from '../../database/limits/shared_backoff.ts'
import { openRate, type SharedLimiter } from '../../database/limits/shared_rate.ts'
import type { Database } from '../../database/open.ts'
import type { FeatureServices } from '../../http/services.ts'
import { openPasswords, type Passwords } from './passwords/passwords.ts'
import { PasswordThrottle } from './passwords/throttle.ts'

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
  /** Requests for public keys reveal who is registered, so they are limited per person like sign-ins. */
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

const SALT_BYTES = 16

/**
 * Returns a fake salt for an address without an account. It is stable and looks like a real one, because it is a MAC of
 * the address with a key of the installation. Repeated requests, other processes and a rotation of SECRET_KEY reveal
 * nothing (protocol 5.1).
 */
function openFakeSalts(key: Uint8Array | null): (email: string) => string {
  return (email) => {
    if (key === null) throw new Error('this process has no prelogin key')
    return toBase64(createHmac('sha256', key).update(email).digest().subarray(0, SALT_BYTES))
  }
}
