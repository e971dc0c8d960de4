/** Refusals as a whole: status, code, sentence and fields, nothing more, and nothing written. */
import { expect } from 'bun:test'
import { getTableName, sql } from 'drizzle-orm'
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

/** Makes the call, and expects this refusal and every table as it was. */
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

/** That a role was refused, or a value read, is itself put on record. */
const but: Record<string, string> = {
  audit_logs: "where action is null or action not in ('access.denied', 'secret.read')",
}

/** Attempts count also where they are refused. */
export const LIMITS = Object.values(limits).map((table) => getTableName(table))
const BACKGROUND = `('${[
  ...['audit_deltas', 'audit_rollups', 'audit_terms', 'token_uses', 'user_activity'],
  ...LIMITS,
].join("','")}')`

/**
 * A digest of the rows of each table, but for what is written in the background: the audit's counts, when
 * tokens were used, who was active, and what limits count.
 */
export async function contentOf({ connection: { db }, flushAudit }: TestApp): Promise<unknown[]> {
  await flushAudit()
  const tables = await db.execute<{ name: string }>(
    sql`select tablename as name from pg_tables where schemaname = 'public'
      and tablename not in ${sql.raw(BACKGROUND)} order by 1`,
  )
  const digests = tables.map(({ name }) =>
    sql.raw(
      `select '${name}' as name, md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as digest from "${name}" t ${but[name] ?? ''}`,
    ),
  )
  return [...(await db.execute(sql.join(digests, sql.raw(' union all '))))]
}
