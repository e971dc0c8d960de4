/**
 * Where in the audit something occurs: `audit_terms` has the quarters of a second, and the records of one are
 * found by their time. A term is a hash, so that what is found is still to be compared.
 */
import { type SQL, sql } from 'drizzle-orm'

/** As `audit_fields_of` in the migrations has them. */
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
