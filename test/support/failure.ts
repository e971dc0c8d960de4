/** Compares a whole error: status, code, sentence and fields, and that nothing was written. */
import { expect } from 'bun:test'
import { getTableName } from 'drizzle-orm'
import {
  type FaultCode,
  type FieldFault,
  type Fix,
  messageOf,
  statusOf,
} from '../../src/core/fault.ts'
import * as limits from '../../src/database/schema/instance.ts'
import { adviceFor } from '../../src/http/advice.ts'
import type { Answer, CallOptions, TestApp } from './app.ts'

type Details = { message?: string; fields?: FieldFault[]; fix?: Fix }

/** The role matrix compares the sentence of each endpoint and role. */
const BY_ROLE = /^(Your role does not allow this\.|This needs the role .+\. Yours is \w+\.)$/

/** Without a `fix` any is accepted: test/http/advice.test.ts has the right one. */
export function expectFailure(
  { status, body }: Pick<Answer, 'status' | 'body'>,
  code: FaultCode,
  { message = messageOf(code), fields, fix = fixIn(body) }: Details = {},
): void {
  const isByRole = code === 'forbidden' && message === messageOf(code)
  expect({ status, body }).toEqual({
    status: statusOf(code),
    body: {
      status: 'failure',
      error_code: code,
      message: isByRole
        ? expect.stringMatching(BY_ROLE)
        : isKnown(fields)
          ? sentenceOf(code, message, fields)
          : expect.any(String),
      ...(fields ? { fields } : {}),
      ...adviceFor(code, fix),
      request_id: expect.any(String),
    },
  })
}

export function fixIn(body: unknown): Fix | undefined {
  return (body as { fix?: Fix } | null)?.fix
}

/** A message that is `expect.any(String)` has no known sentence. */
function isKnown(fields: FieldFault[] = []): boolean {
  return fields.every(({ message }) => typeof message === 'string')
}

/** The sentence of a 422 names the error of the first field (protocol 2). */
export function sentenceOf(code: FaultCode, message: string, fields?: FieldFault[]): string {
  const [first] = (statusOf(code) === 422 && fields) || []
  return first ? `${message} ${first.path || 'body'}: ${first.message}` : message
}

export type Call = [method: string, path: string, options?: CallOptions]

/** Makes the call and expects this error and unchanged tables. */
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

/** Rejections by role and reads of values are recorded themselves. */
const CONDITIONS: Record<string, string> = {
  audit_logs: "where action is null or action not in ('access.denied', 'secret.read')",
}

/** Attempts are counted also when they are rejected. */
export const LIMITS = Object.values(limits).map((table) => getTableName(table))

/** Written in the background: audit counts, last uses of tokens, active people, and counters of limits. */
export const BACKGROUND = [
  ...['audit_deltas', 'audit_rollups', 'audit_terms', 'token_uses', 'user_activity'],
  ...LIMITS,
]

/**
 * A row's version is the transaction that wrote it. Every later one is greater, so if the number of rows is the same,
 * no two changes cancel out.
 */
export const TABLE_VERSION = `count(*) || '/' || coalesce(sum(xmin::text::bigint), 0)`

type State = { snapshot: string; versions: unknown[] }

let statement: Promise<string> | undefined
const lastStates = new WeakMap<object, State>()

/** The version of each table's content, without reading the content. */
export async function contentOf({ connection, flushAudit }: TestApp): Promise<unknown[]> {
  await flushAudit()
  const { sql } = connection
  const [row] = await sql`select pg_current_snapshot()::text as snapshot`
  const last = lastStates.get(connection)
  // No transaction has ended since, so the tables are the same.
  if (last?.snapshot === row?.snapshot) return last?.versions ?? []
  statement ??= selectVersions(sql)
  const versions = [...(await sql.unsafe(await statement, [], { prepare: true }))]
  lastStates.set(connection, { snapshot: String(row?.snapshot), versions })
  return versions
}

async function selectVersions(sql: TestApp['connection']['sql']): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`
  const versions = tables
    .filter(({ name }) => !BACKGROUND.includes(name))
    .map(({ name }) => {
      const condition = CONDITIONS[name] ?? ''
      const version = name === 'sessions' ? SESSIONS_VERSION : TABLE_VERSION
      return `select '${name}' as name, ${version} as version from "${name}" t ${condition}`
    })
    .join(' union all ')
  // Parallel workers would return the tables in any order.
  return `${versions} order by name`
}

/** Every column except the time of the last use, which the server updates once a minute. */
const SESSIONS_VERSION = `md5(string_agg((to_jsonb(t) - 'last_used_at')::text, '|' order by t.id))`
