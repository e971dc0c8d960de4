/** Calls through /v1/forward/, and streamed calls of POST /v1/resolve. */
import { expect } from 'bun:test'
import { type FaultCode, messageOf, statusOf } from '../../src/core/fault.ts'
import { type Agent, type AuditRow, recordOf, type Stage } from './agent.ts'
import { until } from './until.ts'

export type ForwardInit = {
  method?: string
  headers?: Record<string, string>
  body?: BodyInit
  signal?: AbortSignal
}

/** A request through forward mode, the token in its own header; redirects are not followed. */
export function forwardAs(
  { app, authorityOf }: Pick<Stage, 'app' | 'authorityOf'>,
  { token }: Pick<Agent, 'token'>,
  path: string,
  { headers = {}, ...init }: ForwardInit = {},
): Promise<Response> {
  return fetch(`${app.resolver}/v1/forward/${authorityOf()}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { 'x-service-token': token, ...headers },
    ...(init.body instanceof ReadableStream ? { duplex: 'half' } : {}),
  } as RequestInit)
}

/** POST /v1/resolve with a streamed answer. */
export function streamAs(
  { app }: Pick<Stage, 'app'>,
  { token }: Pick<Agent, 'token'>,
  body: object,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${app.resolver}/v1/resolve`, {
    method: 'POST',
    redirect: 'manual',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ stream: true, ...body }),
    ...(signal ? { signal } : {}),
  })
}

/** The audit record of an answer that may carry the upstream's own `x-request-id`. */
export function recordOfAnswer(
  stage: Pick<Stage, 'app'>,
  { headers }: Pick<Response, 'headers'>,
): Promise<AuditRow | null> {
  const id = headers.get('x-service-request-id') ?? headers.get('x-request-id') ?? ''
  return recordOf(stage.app, { headers: new Headers({ 'x-request-id': id }) })
}

/** Compares a whole rejection. */
export async function expectFault(
  response: Response,
  code: FaultCode,
  message: string = messageOf(code),
): Promise<void> {
  expect({ status: response.status, body: await response.json() }).toMatchObject({
    status: statusOf(code),
    body: { error_code: code, message },
  })
}

/** The record of the newest call, once its outcome is stored. */
export function newestRecord({ app }: Pick<Stage, 'app'>): Promise<AuditRow> {
  const { sql } = app.connection
  return until(async () => {
    await app.flushAudit()
    const [row] = await sql<AuditRow[]>`
      select * from audit_logs where source = 'resolver' order by id desc limit 1`
    return row && row.status_code !== null && row
  })
}
