/** The figures for Prometheus: opened only where there is a listener for them. */
import { Registry } from 'prom-client'
import { hostCheck, logRefusedHosts } from '../../core/net/host.ts'
import type { FeatureServices } from '../../http/services.ts'
import { openGauges, type Sources } from './gauges.ts'
import { type Instruments, openInstruments } from './instruments.ts'

export type MetricsWatch = {
  instruments: Instruments
  /** Begins to serve GET /metrics. */
  open(sources: Sources): AdminListener
}

/** `null` without ADMIN_PORT, of which `port` is this process's part: then nothing is counted. */
export function openWatch(
  { config, log, clock }: Pick<FeatureServices, 'config' | 'log' | 'clock'>,
  port: number | undefined,
): MetricsWatch | null {
  if (port === undefined) return null
  const registry = new Registry()
  return {
    instruments: openInstruments(registry),
    open: (sources) => {
      openGauges(registry, sources)
      const checkHost = hostCheck(config.ALLOWED_HOSTS, logRefusedHosts(log, clock))
      const place = { hostname: config.HOST, port, checkHost }
      return openAdminListener(registry, place)
    },
  }
}

type AdminListener = { origin: string; close(): Promise<void> }

type Place = {
  hostname: string
  port: number
  /** @throws for a Host that is not ours, which a web page of another origin may have made up */
  checkHost: (header: string | null) => void
}

/**
 * A separate listener for the operator's tools, with a single path. It serves only counts, but keep its port private.
 */
function openAdminListener(
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
    return new Response('This host name is not allowed: see ALLOWED_HOSTS.\n', {
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
