/** What the tests of accounts share. */
import { expect } from 'bun:test'
import { sql } from 'drizzle-orm'
import {
  type FaultCode,
  type FieldFault,
  messageOf,
  statusOf,
} from '../../../src/platform/fault.ts'
import type { Answer, TestApp } from '../../support/app.ts'
import { sentenceOf } from '../../support/failure.ts'

type Said = { fields?: FieldFault[]; message?: string }

/** The status and the whole body of a refusal; the catalogue's sentence unless `message` is given. */
export function refusal(error_code: FaultCode, { fields, message }: Said = {}) {
  return {
    status: statusOf(error_code),
    body: {
      status: 'failure',
      error_code,
      message: sentenceOf(error_code, message ?? messageOf(error_code), fields),
      ...(fields ? { fields } : {}),
      request_id: expect.any(String),
    },
  }
}

/** A 422 that names one field. */
export function refusedField(path: string, message: string) {
  return refusal('validation_error', { fields: [{ path, message }] })
}

/** Status and body, as `refusal` makes them. */
export function said({ status, body }: Answer) {
  return { status, body }
}

/** A body without its request id: what two refusals must have in common. */
export function alike({ status, body }: Answer) {
  return { status, body: { ...(body as object), request_id: null } }
}

const TABLES = ['users', 'workspaces', 'memberships', 'sessions', 'session_tokens', 'audit_logs']

/** A digest of every row that accounts write: equal before and after when nothing was written. */
export async function everything({ connection: { db } }: TestApp): Promise<unknown[]> {
  const digests: unknown[] = []
  for (const table of TABLES) {
    const rows = await db.execute(
      sql.raw(
        `select count(*)::int as rows, md5(string_agg(t::text, '|' order by t::text)) as digest from ${table} t`,
      ),
    )
    digests.push({ table, ...rows[0] })
  }
  return digests
}

/** Runs `act` and expects that no row has changed by it. */
export async function writesNothing<T>(app: TestApp, act: () => Promise<T>): Promise<T> {
  // The use of a session is noted once a minute: not in the midst of this.
  await app.connection.sql`update sessions set last_used_at = now() + interval '1 hour'`
  const before = await everything(app)
  const result = await act()
  expect(await everything(app)).toEqual(before)
  return result
}
