/**
 * Proves at start that SECRET_KEY has every key of stored log-ins, sessions and tokens. Credentials of a missing key
 * would stop working, so a start must report it before it serves.
 */
import { sql } from 'drizzle-orm'
import { ConfigError } from '../../core/config/config.ts'
import type { Pepper } from '../../core/crypto/pepper.ts'
import type { Log } from '../../core/log.ts'
import type { Database } from '../open.ts'

/** Counts of valid entries that were sealed under one key. */
type Remainder = {
  keyId: string
  passwords: number
  recovery_keys: number
  passkeys: number
  sessions: number
  tokens: number
}

/**
 * `lost` has the IDs of abandoned keys. Checks only `tokens` if no other table is readable. @throws ConfigError that
 * lists the affected rows
 */
export async function checkSecretKey(
  db: Database,
  { pepper, lost, of }: { pepper: Pepper; lost: readonly string[]; of: 'all' | 'tokens' },
  log: Log,
): Promise<void> {
  const [current, ...older] = pepper.keyIds
  const known = new Set([current, ...older, ...lost])
  const remainders = await countMadeBy(db, of)
  const unknown = remainders.filter(({ keyId }) => !known.has(keyId))
  if (unknown.length > 0) throw new ConfigError(unknown.map(problem))
  for (const key of older) {
    const { keyId: _, ...rest } = remainders.find(({ keyId }) => keyId === key) ?? nothingOf(key)
    log.info('an older SECRET_KEY', { key, ...rest })
  }
}

function problem({ keyId, sessions, tokens, ...entrances }: Remainder): string {
  const { passwords, recovery_keys, passkeys } = entrances
  const ends = `${sessions} sessions and ${tokens} tokens would end, ${passwords} passwords, ${recovery_keys} recovery keys and ${passkeys} passkeys would stop working`
  return `SECRET_KEY: the data in this database needs another key (id ${keyId}); without it ${ends} (restore it; to rotate, put the new key before it, separated by a comma; to abandon the data, set SECRET_KEY_LOST=${keyId})`
}

function nothingOf(keyId: string): Remainder {
  return { keyId, passwords: 0, recovery_keys: 0, passkeys: 0, sessions: 0, tokens: 0 }
}

/** The id of a key is in front of a MAC, and behind a password's hash (protocol 4). */
export async function countMadeBy(db: Database, of: 'all' | 'tokens'): Promise<Remainder[]> {
  const rows = await db.execute<Remainder>(sql`
    select key as "keyId",
      count(*) filter (where what = 'password')::float8 as passwords,
      count(*) filter (where what = 'recovery')::float8 as recovery_keys,
      count(*) filter (where what = 'passkey')::float8 as passkeys,
      count(*) filter (where what = 'session')::float8 as sessions,
      count(*) filter (where what = 'token')::float8 as tokens
    from (
      ${of === 'all' ? sql`${OF_PEOPLE} union all` : sql``}
      select 'token' as what, encode(substring(verifier from 1 for 4), 'hex') as key from tokens
      where revoked_at is null and (expires_at is null or expires_at > now())
    ) made
    group by key order by key`)
  return [...rows]
}

const OF_PEOPLE = sql`
      select 'password' as what, right(password_hash, 8) as key from users
      union all
      select 'recovery', right(recovery_verifier_hash, 8) from users
      where recovery_verifier_hash is not null
      union all
      select 'passkey', encode(substring(verifier from 1 for 4), 'hex') from passkeys
      union all
      select 'session', encode(substring(t.verifier from 1 for 4), 'hex')
      from session_tokens t join sessions s on s.id = t.session_id
      where t.kind = 'refresh' and t.rotated_at is null and t.expires_at > now()
        and s.revoked_at is null`
