/** The headings of the documentation, with the settings below each. A prefix ends in `*`. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'Keys and access': [
    'SERVICE_SETTINGS',
    'SECRET_KEY*',
    'ENCRYPTION_KEY',
    'CRON_SECRET',
    'REGISTRATION',
    'OWNER_CODE',
    'PASSKEY_ORIGINS',
    'SECURITY_CONTACT',
  ],
  Database: ['DB_*', 'DATA_DIR', 'SIGNED_STATE_FILE'],
  Listeners: [
    'ALLOWED_HOSTS',
    'HOST',
    'PORT',
    'RESOLVER_PORT',
    'ADMIN_PORT',
    'ROLE',
    'WORKERS',
    'DRAIN_SECONDS',
    'TRUSTED_PROXIES',
    'SERVICE_SERVER_URL',
    'SERVICE_RESOLVER_URL',
  ],
  'Outbound calls': ['RESOLVER_*', 'BODY_MEMORY_MIB', 'KEY_CACHE_SECONDS'],
  'Logs, audit and backups': ['LOG_LEVEL', 'AUDIT_RETENTION_DAYS', 'BACKUP_*'],
  Traces: ['OTEL_*'],
  Quotas: ['QUOTA_*'],
  'Rate limits': ['RATE_*'],
}

/** Settings in the order of the groups. A setting is in the group that has its full name, or the first fitting prefix. */
export function groupSettings<T extends { name: string }>(
  all: readonly T[],
): readonly { heading: string; settings: readonly T[] }[] {
  return Object.keys(groups).map((heading) => ({
    heading,
    settings: all.filter(({ name }) => groupOf(name) === heading),
  }))
}

/** @throws Error for a setting without a group */
function groupOf(name: string): string {
  const entries = Object.entries(groups)
  const exact = entries.find(([, names]) => names.includes(name))
  const fitting = entries.find(([, names]) =>
    names.some((prefix) => prefix.endsWith('*') && name.startsWith(prefix.slice(0, -1))),
  )
  const [heading] = exact ?? fitting ?? []
  if (heading === undefined) throw new Error(`${name} has no group in groups.ts`)
  return heading
}
