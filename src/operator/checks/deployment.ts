/** How the server is deployed: its backups, and the proxy in front of it. */
import { existsSync } from 'node:fs'
import { type Configured, type Found, fail, type Patient, warn } from './check.ts'
import { freeBytesOf } from './limits.ts'
import { count, DAY_MS, numbers, size } from './measure.ts'

/** Days after which a scheduled backup counts as missed. */
const BACKUP_DAYS = 8

export async function checkBackups(patient: Patient): Promise<Found> {
  const { BACKUP_DIR } = patient.config
  const { made, failed } = await numbers<'made' | 'failed'>(
    patient,
    `select (extract(epoch from backed_up_at) * 1000)::float8 as made,
      (extract(epoch from backup_failed_at) * 1000)::float8 as failed from instance`,
  )
  if (failed) return fail('the last scheduled backup failed', 'see the server log')
  if (BACKUP_DIR === undefined)
    return warn(
      'this server has no scheduled backups',
      'set BACKUP_DIR, or check that pg_dump, a base backup or cloakroom backup runs elsewhere',
    )
  const free = existsSync(BACKUP_DIR) ? freeBytesOf(BACKUP_DIR) : null
  if (free !== null && free < patient.limits.freeBytes)
    return warn(`only ${size(free)} are free for backups`, 'give BACKUP_DIR more space')
  const days = made ? Math.floor((patient.now() - made) / DAY_MS) : null
  const said =
    days === null
      ? 'there is no scheduled backup yet'
      : `the last scheduled backup is ${count(days, 'day')} old`
  if (days !== null && days < BACKUP_DAYS) return said
  return warn(said, 'check BACKUP_SCHEDULE and the server log, or run cloakroom backup')
}

/** The server itself serves http, so https clients must use a proxy. */
export function checkProxies({ config }: Configured): Found {
  const urls = [config.SERVICE_SERVER_URL, config.SERVICE_RESOLVER_URL]
  const isBehind = urls.some((url) => url?.startsWith('https:'))
  if (!isBehind || config.TRUSTED_PROXIES.length > 0)
    return 'TRUSTED_PROXIES fits the public addresses'
  return warn(
    'clients connect through a proxy that is not trusted, so they share one rate limit',
    'set TRUSTED_PROXIES to the network of the proxy',
  )
}
