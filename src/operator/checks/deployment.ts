/** How the server is deployed: its backups, and the proxy in front of it. */
import { existsSync } from 'node:fs'
import { type Configured, type Found, fail, type Patient, warn } from './check.ts'
import { freeBytesOf } from './limits.ts'
import { count, DAY_MS, numbers, size } from './measure.ts'

/** A backup by the clock that is older is one that was missed. */
const BACKUP_DAYS = 8

export async function checkBackups(patient: Patient): Promise<Found> {
  const { BACKUP_DIR } = patient.config
  const { made, failed } = await numbers<'made' | 'failed'>(
    patient,
    `select (extract(epoch from backed_up_at) * 1000)::float8 as made,
      (extract(epoch from backup_failed_at) * 1000)::float8 as failed from instance`,
  )
  if (failed) return fail('the last backup by the clock failed', 'see the log of the server')
  if (BACKUP_DIR === undefined)
    return warn(
      'this server makes no backups by the clock',
      'set BACKUP_DIR, or see that pg_dump, a base backup or cloakroom backup runs elsewhere',
    )
  const free = existsSync(BACKUP_DIR) ? freeBytesOf(BACKUP_DIR) : null
  if (free !== null && free < patient.limits.freeBytes)
    return warn(`only ${size(free)} are free for backups`, 'give BACKUP_DIR more room')
  const days = made ? Math.floor((patient.now() - made) / DAY_MS) : null
  const said =
    days === null
      ? 'there is no backup by the clock yet'
      : `the last backup by the clock is ${count(days, 'day')} old`
  if (days !== null && days < BACKUP_DAYS) return said
  return warn(
    said,
    'see BACKUP_SCHEDULE and the log of the server, or make one with cloakroom backup',
  )
}

/** The server itself serves http: clients that use https reach it through a proxy. */
export function checkProxies({ config }: Configured): Found {
  const urls = [config.SERVICE_SERVER_URL, config.SERVICE_RESOLVER_URL]
  const isBehind = urls.some((url) => url?.startsWith('https:'))
  if (!isBehind || config.TRUSTED_PROXIES.length > 0)
    return 'whose addresses are believed fits the addresses'
  return warn(
    'the server is reached through a proxy that it does not trust: all clients look like one network',
    'set TRUSTED_PROXIES to the network of the proxy',
  )
}
