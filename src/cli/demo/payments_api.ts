/**
 * The API that the demo's agent calls: HTTPS with TLS 1.3 on this machine. It checks the key that it is
 * given, like a real one, and lists in its answer what it received.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Authority } from './certificates.ts'

export const API_HOST = 'api.payments.example'

export type Received = { method: string; path: string; authorization: string | null }

export type PaymentsApi = {
  port: number
  /** Every request so far, oldest first. */
  received: Received[]
  stop(): Promise<void>
}

/** `bearer` and `basic` are the only credentials that it accepts. */
export async function startPaymentsApi(
  authority: Authority,
  { bearer, basic }: { bearer: string; basic: string },
): Promise<PaymentsApi> {
  const received: Received[] = []
  const accepted = [`Bearer ${bearer}`, `Basic ${Buffer.from(basic).toString('base64')}`]
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: await authority.issue([API_HOST]),
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      const authorization = request.headers.get('authorization')
      received.push({ method: request.method, path: pathname, authorization })
      if (!accepted.some((credential) => equal(credential, authorization ?? ''))) {
        return Response.json({ error: 'wrong credentials' }, { status: 401 })
      }
      const answer = { ok: true, charge: 'ch_1001' }
      return Response.json(
        pathname === '/v1/echo' ? { ...answer, you_sent: authorization } : answer,
      )
    },
  })
  return { port: server.port ?? 0, received, stop: () => server.stop(true) }
}

function equal(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
