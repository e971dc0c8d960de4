/** Compares a whole refusal: status, code, sentence and fields, and that nothing was written. */
import { expect } from 'bun:test'
import { getTableName } from 'drizzle-orm'
import * as limits from '../../src/platform/db/schema/limits.ts'
import { type FaultCode, type FieldFault, messageOf, statusOf } from '../../src/platform/fault.ts'
import type { Answer, CallOptions, TestApp } from './app.ts'

type Details = { message?: string; fields?: FieldFault[] }

export function expectFailure(
  { status, body }: Pick<Answer, 'status' | 'body'>,
  code: FaultCode,
  { message = messageOf(code), fields }: Details = {},
): void {
  expect({ status, body }).toEqual({
    status: statusOf(code),
    body: {
      status: 'failure',
      error_code: code,
      message: isKnown(fields) ? sentenceOf(code, message, fields) : expect.any(String),
      ...(fields ? { fields } : {}),
      request_id: expect.any(String),
    },
  })
}

/** Of a complaint that is `expect.any(String)` there is no sentence. */
function isKnown(fields: FieldFault[] = []): boolean {
  return fields.every(({ message }) => typeof message === 'string')
}

/** A 422 says in its sentence what is wrong with the first field (protocol 2). */
export function sentenceOf(code: FaultCode, message: string, fields?: FieldFault[]): string {
  const [first] = (statusOf(code) === 422 && fields) || []
  return first ? `${message} ${first.path || 'body'}: ${first.message}` : message
}

export type Call = [method: string, path: string, options?: CallOptions]

/** Makes the call and expects this refusal and unchanged tables. */
export async function expectRefusal(
  app: TestApp,
  call: Call,
  code: FaultCode,
  details: Details = {},
): Promise<void> {
  const before = await contentOf(app)
  expectFailure(await app.call(...call), code, details)
  expect(await contentOf(app)).toEqual(before)
}

/** Refused roles and values that were read are recorded. */
const UNRECORDED: Conditions = {
  audit_logs: "where action is null or action not in ('access.denied', 'secret.read')",
}

/** Limits also count refused attempts. */
export const LIMITS = Object.values(limits).map((table) => getTableName(table))

/** Written in the background: audit counts, when tokens were used, who was active, and counters of limits. */
export const BACKGROUND = [
  ...['audit_deltas', 'audit_rollups', 'audit_terms', 'token_uses', 'user_activity'],
  ...LIMITS,
]

/**
 * The state of every table except those that are written in the background: audit counts, token uses,
 * activity, and limits. Two states are equal only if nothing was committed in between.
 */
export const TABLE_VERSION = `count(*) || '/' || coalesce(sum(xmin::text::bigint), 0)`

type State = { snapshot: string; versions: unknown[] }

let statement: Promise<string> | undefined
const lastStates = new WeakMap<object, State>()

/** The version of each table's content, without reading the content. */
export async function contentOf({ connection, flushAudit }: TestApp): Promise<unknown[]> {
  await flushAudit()
  const tables = await db.execute<{ name: string; part: string }>(
    sql`select coalesce(pg_partition_root(oid), oid)::regclass::text as name, oid::regclass::text as part
      from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
      and coalesce(pg_partition_root(oid), oid)::regclass::text not in ${sql.raw(BACKGROUND)}`,
  )
  return await stateOf(db, [...tables], UNRECORDED)
}

type Conditions = Record<string, string>

/** The number of rows, and the transaction that wrote last: an insert, update or delete changes one of them. */
export async function stateOf(
  db: TestApp['connection']['db'],
  tables: readonly { name: string; part?: string }[],
  conditions: Conditions = {},
): Promise<unknown[]> {
  const states = tables.map(({ name, part = name }) => {
    const from = `from ${part} t ${conditions[name] ?? ''}`
    const last = name === 'sessions' ? SESSIONS : 'max(xmin::text::bigint)::text'
    return sql.raw(`select '${part}' as name, count(*)::int as rows, ${last} as last ${from}`)
  })
  return [...(await db.execute(sql`${sql.join(states, sql.raw(' union all '))} order by name`))]
}

/** Every column except the time of the last use, which the server updates once a minute. */
const SESSIONS = `md5(string_agg((to_jsonb(t) - 'last_used_at')::text, '|' order by t.id))`
