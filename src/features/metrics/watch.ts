/** The figures for Prometheus: opened only where there is a listener for them. */
import { Registry } from 'prom-client'
import { hostCheck, refusedHosts } from '../../core/net/host.ts'
import type { FeatureServices } from '../../http/services.ts'
import { type AdminListener, openAdminListener } from './admin_listener.ts'
import { openGauges, type Sources } from './gauges.ts'
import { type Instruments, openInstruments } from './instruments.ts'

export type Watch = {
  instruments: Instruments
  /** Begins to serve GET /metrics. */
  open(sources: Sources): AdminListener
}

/** `null` without ADMIN_PORT, of which `port` is this process's part: then nothing is counted. */
export function openWatch(
  { config, log, clock }: Pick<FeatureServices, 'config' | 'log' | 'clock'>,
  port: number | undefined,
): Watch | null {
  if (port === undefined) return null
  const registry = new Registry()
  return {
    instruments: openInstruments(registry),
    open: (sources) => {
      openGauges(registry, sources)
      const checkHost = hostCheck(config.ALLOWED_HOSTS, refusedHosts(log, clock))
      const place = { hostname: config.HOST, port, checkHost }
      return openAdminListener(registry, place)
    },
  }
}
