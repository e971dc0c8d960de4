/** What is around the server: its files, its limits, its backups, what stands before it. */
import { existsSync } from 'node:fs'
import { version } from '../../../package.json'
import type { Config } from '../../core/config/config.ts'
import { checkFiles } from '../self_check/files.ts'
import { checkLimits, freeBytesOf, limitsOfSystem } from '../self_check/limits.ts'
import {
  count,
  DAY_MS,
  type DoctorCheck,
  type Found,
  numbers,
  type Patient,
  size,
  well,
} from './finding.ts'

/** A backup by the clock that is older is one that was missed. */
const BACKUP_DAYS = 8

export const machineChecks: readonly DoctorCheck[] = [
  { name: 'version', docs: 'docs/upgrading.md', run: () => well(`Cloakroom ${version}`) },
  {
    name: 'files',
    docs: 'docs/operations.md#health',
    run: ({ config }) => well(checkFiles(config)),
  },
  {
    name: 'limits',
    docs: 'docs/operations.md#health',
    run: ({ config }) => well(checkLimits(config, limitsOfSystem(config))),
  },
  { name: 'backups', docs: 'docs/operations.md#backups-by-the-clock', run: checkBackups },
  {
    name: 'proxies',
    docs: 'docs/operations.md#settings',
    run: ({ config }) => checkProxies(config),
  },
]

async function checkBackups(patient: Patient): Promise<Found> {
  const { BACKUP_DIR } = patient.config
  const { made, failed } = await numbers<'made' | 'failed'>(
    patient,
    `select (extract(epoch from backed_up_at) * 1000)::float8 as made,
      (extract(epoch from backup_failed_at) * 1000)::float8 as failed from instance`,
  )
  if (failed)
    return {
      level: 'fail',
      said: 'the last backup by the clock failed',
      todo: 'see the log of the server',
    }
  if (BACKUP_DIR === undefined)
    return {
      level: 'warn',
      said: 'this server makes no backups by the clock',
      todo: 'set BACKUP_DIR, or see that pg_dump, a base backup or cloakroom backup runs elsewhere',
    }
  const free = existsSync(BACKUP_DIR) ? freeBytesOf(BACKUP_DIR) : null
  if (free !== null && free < patient.limits.freeBytes)
    return {
      level: 'warn',
      said: `only ${size(free)} are free for backups`,
      todo: 'give BACKUP_DIR more room',
    }
  const days = made ? Math.floor((patient.now() - made) / DAY_MS) : null
  if (days !== null && days < BACKUP_DAYS)
    return well(`the last backup by the clock is ${count(days, 'day')} old`)
  return {
    level: 'warn',
    said:
      days === null
        ? 'there is no backup by the clock yet'
        : `the last backup by the clock is ${count(days, 'day')} old`,
    todo: 'see BACKUP_SCHEDULE and the log of the server, or make one with cloakroom backup',
  }
}

/** The server itself speaks http: who reaches it by https comes through something. */
function checkProxies({
  SERVICE_SERVER_URL,
  SERVICE_RESOLVER_URL,
  TRUSTED_PROXIES,
}: Config): Found {
  const isBehind = [SERVICE_SERVER_URL, SERVICE_RESOLVER_URL].some((url) =>
    url?.startsWith('https:'),
  )
  if (!isBehind || TRUSTED_PROXIES.length > 0)
    return well('whose addresses are believed fits the addresses')
  return {
    level: 'warn',
    said: 'the server is reached through a proxy that it does not trust: all clients look like one network',
    todo: 'set TRUSTED_PROXIES to the network of the proxy',
  }
}
