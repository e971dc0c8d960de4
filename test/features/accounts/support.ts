/** Helpers that the tests of accounts share. */
import { expect } from 'bun:test'
import {
  type FaultCode,
  type FieldFault,
  type Fix,
  messageOf,
  statusOf,
} from '../../../src/core/fault.ts'
import { adviceFor } from '../../../src/http/advice.ts'
import type { Answer, TestApp } from '../../support/app.ts'
import { contentOf, sentenceOf } from '../../support/failure.ts'

type Said = { fields?: FieldFault[]; message?: string; fix?: Fix }

/** The status and the whole body of an error; the catalogue's sentence unless `message` is given. */
export function refusal(error_code: FaultCode, { fields, message, fix }: Said = {}) {
  return {
    status: statusOf(error_code),
    body: {
      status: 'failure',
      error_code,
      message: sentenceOf(error_code, message ?? messageOf(error_code), fields),
      ...(fields ? { fields } : {}),
      ...adviceFor(error_code, fix),
      request_id: expect.any(String),
    },
  }
}

/** A 422 that names one field. */
export function refusedField(path: string, message: string) {
  return refusal('validation_error', { fields: [{ path, message }] })
}

/** Status and body, in the form of `refusal`. */
export function said({ status, body }: Answer) {
  return { status, body }
}

/** A body without its request ID, to compare two errors. */
export function alike({ status, body }: Answer) {
  return { status, body: { ...(body as object), request_id: null } }
}

/** The state of every table, and the number of audit records: equal only if nothing was written in between. */
export async function everything(app: TestApp): Promise<unknown[]> {
  const content = await contentOf(app)
  return [...content, ...(await app.connection.sql`select count(*)::int from audit_logs`)]
}

/** Runs `act` and expects that it changes no row. */
export async function writesNothing<T>(app: TestApp, act: () => Promise<T>): Promise<T> {
  const before = await everything(app)
  const result = await act()
  expect(await everything(app)).toEqual(before)
  return result
}
