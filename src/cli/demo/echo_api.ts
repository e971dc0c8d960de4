/**
 * An API that answers with what it received: HTTPS with TLS 1.3 on this machine. It also prints received requests, with
 * possible credentials in headers replaced by length and fingerprint.
 */

import { SSL_OP_NO_TLSv1, SSL_OP_NO_TLSv1_1, SSL_OP_NO_TLSv1_2 } from 'node:constants'
import { createHash } from 'node:crypto'
import type { Authority } from './certificates.ts'

export const ECHO_HOST = 'echo.internal'

/** The part of a request that may be printed. */
export type Shown = { method: string; path: string; headers: Record<string, string>; bytes: number }

export type EchoApi = { port: number; stop(): Promise<void> }

type Options = { port: number; show(request: Shown): void }

const BODY_LIMIT = 1_048_576

export async function startEchoApi(
  authority: Authority,
  { port, show }: Options,
): Promise<EchoApi> {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    maxRequestBodySize: BODY_LIMIT,
    tls: {
      ...(await authority.issue([ECHO_HOST])),
      secureOptions: SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_TLSv1_2,
    },
    fetch: async (request) => {
      const { method, headers } = request
      const { pathname, search } = new URL(request.url)
      const body = await request.text()
      const received = Object.fromEntries(headers)
      const masked = Object.entries(received).map(([name, value]) => [name, maskOf(name, value)])
      const path = `${pathname}${search === '' ? '' : '?…'}`
      const bytes = Buffer.byteLength(body)
      show({ method, path, headers: Object.fromEntries(masked), bytes })
      return Response.json({ method, path: `${pathname}${search}`, headers: received, body })
    },
  })
  return { port: server.port ?? 0, stop: () => server.stop(true) }
}

/** Headers without sensitive values. */
const HARMLESS = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'host',
  'user-agent',
])

function maskOf(name: string, value: string): string {
  if (HARMLESS.has(name)) return value
  const [, scheme = '', rest = ''] = /^((?:Bearer|Basic|Token) )?(.*)$/is.exec(value) ?? []
  const fingerprint = createHash('sha256').update(rest).digest('hex').slice(0, 8)
  return `${scheme}******** (${rest.length} characters, SHA-256 ${fingerprint}…)`
}
