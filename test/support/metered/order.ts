/** A valid request to each endpoint, in the form of the role matrix, by a permitted person. */
import type { Endpoint } from '../../../src/http/endpoint.ts'
import { DEFAULT_BODY_LIMIT } from '../../../src/http/request_body.ts'
import { rows } from '../../security/matrix_rows.ts'
import type { World } from '../../security/matrix_world.ts'

export const CRON_SECRET = 'a-secret-of-the-scheduler-and-nobody-else'

export type Order = {
  name: string
  method: string
  url: string
  token: string
  headers?: Record<string, string> | undefined
  body: unknown
  /** Bytes that the endpoint accepts. */
  limit: number
}

export type Served = { endpoint: Endpoint; surface: 'control-plane' | 'resolver' }

export async function makeOrder({ endpoint, surface }: Served, world: World): Promise<Order> {
  const row = rows[endpoint.name]
  if (!row) throw new Error(`no row for ${endpoint.name}`)
  const name = row.expect?.owner === 404 ? ('invited' as const) : ('owner' as const)
  const caller = world.person[name]
  const request = await row.request({ world, caller, name })
  const { params = {}, query = {}, token, headers } = request
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, key) =>
    encodeURIComponent(params[key] ?? ''),
  )
  const origin = surface === 'resolver' ? world.app.resolver : world.app.controlPlane
  return {
    name: `${surface} ${endpoint.name}`,
    method: endpoint.method,
    url: `${origin}${path}?${new URLSearchParams(query)}`,
    token: token ?? tokenFor(endpoint, caller.token, world),
    headers,
    body: request.body ?? (endpoint.body && {}),
    limit: endpoint.bodyLimit ?? DEFAULT_BODY_LIMIT,
  }
}

function tokenFor({ access }: Endpoint, own: string, world: World): string {
  if (access.kind === 'cron') return CRON_SECRET
  if (access.kind !== 'token') return own
  return access.capability === 'read' ? world.readingToken : world.agentToken
}
