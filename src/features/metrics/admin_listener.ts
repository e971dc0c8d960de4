/**
 * The listener for the operator's own tools, apart from everything that others reach. It knows one
 * path; it serves counts only, but they are for the operator: keep its port inside.
 */
import type { Registry } from 'prom-client'

export type AdminListener = { origin: string; close(): Promise<void> }

type Place = {
  hostname: string
  port: number
  /** @throws for a Host that is not ours, which a web page of another origin may have made up */
  checkHost: (header: string | null) => void
}

export function openAdminListener(
  registry: Registry,
  { hostname, port, checkHost }: Place,
): AdminListener {
  const server = Bun.serve({
    hostname,
    port,
    reusePort: false,
    fetch: (request) => respond(registry, request, checkHost),
  })
  return { origin: server.url.origin, close: () => server.stop(true) }
}

async function respond(
  registry: Registry,
  request: Request,
  checkHost: Place['checkHost'],
): Promise<Response> {
  const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  try {
    checkHost(request.headers.get('host'))
  } catch {
    return new Response('This host name is not served: see ALLOWED_HOSTS.\n', {
      status: 400,
      headers,
    })
  }
  if (new URL(request.url).pathname !== '/metrics')
    return new Response('Not found\n', { status: 404, headers })
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return new Response('Method not allowed\n', {
      status: 405,
      headers: { ...headers, allow: 'GET, HEAD' },
    })
  return new Response(await registry.metrics(), {
    headers: { ...headers, 'content-type': registry.contentType },
  })
}
