/** The server itself: its owner, and the report for the owner. */
import { sql } from 'drizzle-orm'
import { version } from '../../../package.json'
import type { Clock } from '../../core/clock.ts'
import { addressesOf } from '../../core/config/addresses.ts'
import type { Config } from '../../core/config/config.ts'
import { listRelyingParties } from '../../core/config/passkey_origins.ts'
import { instance } from '../../database/schema/index.ts'
import { buildCommonHeaders } from '../../http/reply.ts'
import { createRawRoute, type Route, route } from '../../http/route.ts'
import type { FeatureServices } from '../../http/services.ts'
import { hasOwner } from '../accounts/index.ts'
import { getInstance, getSecurityContact, reportInstance } from './contract.ts'

export function instanceRoutes({ db, config, clock }: FeatureServices): Route[] {
  const startedAt = new Date(clock.now())
  return [
    route(getInstance, async () => {
      const has_owner = await hasOwner(db)
      const { REGISTRATION, OWNER_CODE } = config
      return {
        has_owner,
        may_register: REGISTRATION === 'open' || (REGISTRATION === 'first' && !has_owner),
        needs_owner_code: !has_owner && OWNER_CODE !== undefined,
        addresses: addressesOf(config),
        passkey_origins: [...listRelyingParties(config).keys()],
      }
    }),
    route(reportInstance, async () => ({
      version,
      started_at: startedAt,
      database: await describeDatabase(
        db,
        config.DB_HOST === undefined ? 'embedded' : 'postgresql',
      ),
      ...(await describeBackups(db)),
      settings: {
        registration: config.REGISTRATION,
        workers: config.WORKERS,
        audit_retention_days: config.AUDIT_RETENTION_DAYS ?? null,
        has_metrics: config.ADMIN_PORT !== undefined,
        keeps_seen_state: config.SIGNED_STATE_FILE !== undefined,
      },
    })),
  ]
}

async function describeBackups(db: FeatureServices['db']) {
  const { backedUpAt: at, backupFailedAt: failedAt } = instance
  const [row] = await db.select({ at, failedAt }).from(instance)
  return {
    last_backup: row?.at ? { at: row.at } : null,
    backup_failed_at: row?.failedAt ?? null,
  }
}

type Described = { version: string; size_bytes: number; migration: string }

async function describeDatabase(db: FeatureServices['db'], kind: 'embedded' | 'postgresql') {
  const [row] = await db.execute<Described>(sql`
    select split_part(current_setting('server_version'), ' ', 1) as version,
      pg_database_size(current_database())::float8 as size_bytes,
      (select name from cloakroom_migrations order by name desc limit 1) as migration`)
  if (!row) throw new Error('the database returned no information')
  return { kind, ...row }
}

type Contact = Pick<Config, 'SECURITY_CONTACT' | 'SERVICE_SERVER_URL' | 'SERVICE_RESOLVER_URL'>

const DAY_MS = 86_400_000
/** Less than a year is recommended (RFC 9116, section 2.5.5). */
const VALID_DAYS = 180

/**
 * `/.well-known/security.txt` (RFC 9116), on both listeners, from SECURITY_CONTACT. Without it, the path is not served.
 */
export function securityContactRoutes(config: Contact, clock: Clock): Route[] {
  if (config.SECURITY_CONTACT.length === 0) return []
  return [
    createRawRoute(getSecurityContact, async ({ requestId }) => {
      const type = { 'content-type': 'text/plain; charset=utf-8' }
      const headers = { ...buildCommonHeaders(requestId), ...type }
      return new Response(textOf(config, clock.now()), { headers })
    }),
  ]
}

/** Expires as a day begins, so that it is the same all day. */
function textOf(config: Contact, now: number): string {
  const { SECURITY_CONTACT, SERVICE_SERVER_URL, SERVICE_RESOLVER_URL } = config
  const expires = new Date((Math.floor(now / DAY_MS) + VALID_DAYS) * DAY_MS)
  const places = [SERVICE_SERVER_URL, SERVICE_RESOLVER_URL].flatMap((url) => placeOf(url) ?? [])
  const lines = [
    ...SECURITY_CONTACT.map((address) => `Contact: ${address}`),
    `Expires: ${expires.toISOString().replace('.000', '')}`,
    ...places.map((place) => `Canonical: ${place}`),
  ]
  return `${lines.join('\n')}\n`
}

/** This listener's public origin, if it has one; the text's URL is below it. */
function placeOf(url: string | undefined): string | null {
  const { protocol, pathname, origin } = URL.parse(url ?? '') ?? {}
  return protocol === 'https:' && pathname === '/' ? `${origin}${getSecurityContact.path}` : null
}
