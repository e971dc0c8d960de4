/**
 * Facts about the whole server that deserve an alert. Queries the database at most once a minute. Omits facts that the
 * process cannot read.
 */
import { statfs } from 'node:fs/promises'
import type postgres from 'postgres'
import { Gauge, type Registry } from 'prom-client'
import { withTimeout } from '../../core/async/timeout.ts'

export type Installation = {
  sql: postgres.Sql
  /** DATA_DIR, where the embedded database is. */
  dataDir?: string | null
}

const TIMEOUT_MS = 2_000
const KEPT_MS = 60_000

type Looked = { name: string; help: string; look: (from: Installation) => Promise<unknown> }

const LOOKS: readonly Looked[] = [
  {
    name: 'cloakroom_tokens_expiring',
    help: 'Tokens that expire within 7 days.',
    look: ({ sql }) =>
      readOneNumber(sql`
      select count(*)::float8 as value from tokens where revoked_at is null
        and expires_at > now() and expires_at < now() + interval '7 days'`),
  },
  {
    name: 'cloakroom_token_key_ids',
    help: 'SECRET_KEY keys used by active tokens; more than 1 during a rotation.',
    look: ({ sql }) =>
      readOneNumber(sql`
      select count(distinct substring(verifier from 1 for 4))::float8 as value from tokens
      where revoked_at is null and (expires_at is null or expires_at > now())`),
  },
  {
    name: 'cloakroom_backup_last_timestamp_seconds',
    help: 'Time of the newest recorded backup.',
    look: ({ sql }) =>
      readOneNumber(sql`
      select extract(epoch from backed_up_at)::float8 as value from instance
      where backed_up_at is not null`),
  },
  {
    name: 'cloakroom_database_size_bytes',
    help: 'Database size.',
    look: ({ sql }) =>
      readOneNumber(sql`select pg_database_size(current_database())::float8 as value`),
  },
  {
    name: 'cloakroom_data_free_bytes',
    help: 'Free disk space of the embedded database.',
    look: async ({ dataDir }) => {
      if (!dataDir) return null
      const { bavail, bsize } = await statfs(dataDir)
      return bavail * bsize
    },
  },
]

export function watchInstallation(registry: Registry, from: Installation): void {
  for (const { name, help, look } of LOOKS) {
    const looked = cacheResult(() =>
      withTimeout(TIMEOUT_MS, look(from), () => new Error('too slow')),
    )
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.reset()
        this.remove()
        const value = await looked()
        if (typeof value === 'number') this.set(value)
      },
    })
  }
}

async function readOneNumber(query: PromiseLike<postgres.Row[]>): Promise<unknown> {
  const [row] = await query
  return row?.value
}

/** The last result, cached for a while, also when that was nothing. */
function cacheResult(look: () => Promise<unknown>): () => Promise<unknown> {
  let last: { at: number; value: Promise<unknown> } | undefined
  return () => {
    const now = performance.now()
    if (!last || now - last.at > KEPT_MS) last = { at: now, value: look().catch(() => null) }
    return last.value
  }
}
