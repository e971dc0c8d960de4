/** CRON_SECRET, the bearer token of external schedulers, compared in constant time. */
import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../core/crypto/primitives.ts'
import { Fault } from '../core/fault.ts'

/** @throws Fault `not_found` where no secret is set, `invalid_token` */
export function checkCronSecret(secret: string | undefined, headers: Headers): void {
  if (!secret) throw new Fault('not_found')
  const [, presented = ''] = /^Bearer +(.+)$/i.exec(headers.get('authorization') ?? '') ?? []
  // Hashes have one length, so that the time does not depend on the secret's.
  if (!timingSafeEqual(sha256(presented), sha256(secret))) throw new Fault('invalid_token')
}
