/** The columns of a secret that its members see besides the ciphertext. */
import { type AnyColumn, and, eq, type SQL, sql } from 'drizzle-orm'
import { derivedStates, secrets } from '../../database/schema/index.ts'

export type Hash = { value_sha256: SQL.Aliased<string | null> }

/** The hash of a value as on the wire; plain workspaces have none. */
export function selectHash({ valueHash }: { valueHash: AnyColumn }): Hash {
  const base64url = sql<
    string | null
  >`translate(rtrim(encode(${valueHash}, 'base64'), '='), '+/', '-_')`
  return { value_sha256: base64url.as('value_sha256') }
}

type DerivedHints = {
  expires_at: string | null
  failed_at: string | null
  failed_code: string | null
}

const onTheWire = (time: AnyColumn) =>
  sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const derived = sql<DerivedHints | null>`case when ${derivedStates.generation} is not null then
  json_build_object('expires_at', ${onTheWire(derivedStates.expiresAt)},
    'failed_at', ${onTheWire(derivedStates.failedAt)}, 'failed_code', ${derivedStates.failedCode}) end`

/**
 * Joins the row of a secret whose policy has `kind`. It is looked for in the text, because PostgreSQL takes no JSON
 * apart that has U+0000 in it, which policies may have.
 */
export const ofDerived = and(
  eq(derivedStates.workspaceId, secrets.workspaceId),
  eq(derivedStates.projectId, secrets.projectId),
  eq(derivedStates.environment, secrets.environment),
  eq(derivedStates.key, secrets.key),
  sql`${secrets.policy}::text like '%"kind"%'`,
)

/** With `derivedStates`, joined by `ofDerived`. */
export const shownColumns = {
  id: secrets.id,
  key: secrets.key,
  environment: secrets.environment,
  policy: secrets.policy,
  version: secrets.version,
  derived: derived.as('derived'),
  created_at: secrets.createdAt,
  updated_at: secrets.updatedAt,
}
