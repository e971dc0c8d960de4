/**
 * Finds occurrences of a text in the audit. `audit_terms` lists quarters of a second, and a quarter's records are found
 * by their time. A term is a hash, so each record found still has to be compared.
 */
import { type SQL, sql } from 'drizzle-orm'

/** Fields as `audit_fields_of` in the migrations defines them. */
type Field =
  | 'agent'
  | 'project'
  | 'environment'
  | 'method'
  | 'domain'
  | 'status'
  | 'action'
  | 'credential'
  /** An agent's name, where it made a request. */
  | 'caller'

export function termOf(workspaceId: string, field: Field, value: SQL | string | number): SQL {
  return sql`audit_term(${workspaceId}::uuid, ${field}, ${value}::text)`
}

/** Whether a record is of the bucket that is named `bucket`. */
export const isInBucket: SQL = sql`(audit_logs.timestamp >= bucket and audit_logs.timestamp < bucket + interval '250 milliseconds')`

export function bucketOf(moment: Date | string): SQL {
  return sql`audit_bucket(${typeof moment === 'string' ? moment : moment.toISOString()}::timestamptz)`
}

/** Whether a bucket may hold records from a moment on. */
export function reaches(since: Date): SQL {
  return sql`bucket >= ${bucketOf(since)}`
}
