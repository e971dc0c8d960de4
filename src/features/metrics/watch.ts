/** The figures for Prometheus: opened only where there is a listener for them. */
import { Registry } from 'prom-client'
import type { Config } from '../../platform/config/config.ts'
import { hostCheck } from '../../platform/http/host.ts'
import { type AdminListener, openAdminListener } from './admin_listener.ts'
import { openGauges, type Sources } from './gauges.ts'
import { type Instruments, openInstruments } from './instruments.ts'

export type Watch = {
  instruments: Instruments
  /** Begins to serve GET /metrics. */
  open(sources: Sources): AdminListener
}

/** `null` without ADMIN_PORT: then nothing is counted. */
export function openWatch({ ADMIN_PORT: port, HOST, ALLOWED_HOSTS }: Config): Watch | null {
  if (port === undefined) return null
  const registry = new Registry()
  return {
    instruments: openInstruments(registry),
    open: (sources) => {
      openGauges(registry, sources)
      const place = { hostname: HOST, port, checkHost: hostCheck(ALLOWED_HOSTS) }
      return openAdminListener(registry, place)
    },
  }
}
