/**
 * Counters that are updated as events happen. Labels have few values each: patterns of routes, codes of errors,
 * known methods and statuses; never a path, a name or an id.
 */
import { STATUS_CODES } from 'node:http'
import { Counter, Histogram, type Registry } from 'prom-client'
import type { TrailObserver } from '../../audit/trail.ts'
import type { ServedRequest } from '../../http/route.ts'

export type Instruments = TrailObserver & {
  onRequest(listener: string, request: ServedRequest): void
  onBackup(outcome: 'made' | 'failed'): void
}

/** Seconds: from a reply out of memory to the longest deadline of a call. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120]

/** Others are counted together: any token is a method to HTTP. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export function openInstruments(registry: Registry): Instruments {
  const registers = [registry]
  const requests = new Counter({
    name: 'cloakroom_http_requests_total',
    help: 'HTTP requests.',
    labelNames: ['listener', 'method', 'route', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'cloakroom_http_request_duration_seconds',
    help: 'Time from request headers to response.',
    labelNames: ['listener', 'method', 'route'],
    buckets: SECONDS,
    registers,
  })
  const backups = new Counter({
    name: 'cloakroom_backups_total',
    help: 'Scheduled backups.',
    labelNames: ['outcome'],
    registers,
  })
  return {
    onBackup: (outcome) => backups.inc({ outcome }),
    onRequest: (listener, { method, route, status, duration_ms }) => {
      const place = {
        listener,
        method: METHODS.has(method) ? method : 'other',
        route: route ?? 'none',
      }
      requests.inc({ ...place, status: status in STATUS_CODES ? status : `${String(status)[0]}xx` })
      durations.observe(place, duration_ms / 1000)
    },
    ...trailInstruments(registers),
  }
}

function trailInstruments(registers: Registry[]): TrailObserver {
  const decisions = new Counter({
    name: 'cloakroom_resolver_decisions_total',
    help: 'Final decisions on token requests; reason is an error code or none.',
    labelNames: ['decision', 'reason'],
    registers,
  })
  const calls = new Histogram({
    name: 'cloakroom_resolver_call_duration_seconds',
    help: 'Duration of executed calls, from decision to end.',
    buckets: SECONDS,
    registers,
  })
  const redactions = new Counter({
    name: 'cloakroom_resolver_redactions_total',
    help: 'Responses with a redacted credential.',
    registers,
  })
  const writes = new Histogram({
    name: 'cloakroom_audit_write_duration_seconds',
    help: 'Duration of one batched write of audit records.',
    labelNames: ['kind'],
    buckets: SECONDS,
    registers,
  })
  const failures = new Counter({
    name: 'cloakroom_audit_write_failures_total',
    help: 'Audit writes that failed or timed out.',
    labelNames: ['kind'],
    registers,
  })
  const refused = new Counter({
    name: 'cloakroom_audit_refused_total',
    help: 'Audit records rejected by the database and moved to audit_refused.',
    registers,
  })
  for (const kind of ['intents', 'outcomes']) failures.inc({ kind }, 0)
  return {
    onDecision: ({ decision, reason, duration_ms, redacted }) => {
      decisions.inc({ decision, reason: reason ?? 'none' })
      if (decision === 'allowed' && duration_ms !== null) calls.observe(duration_ms / 1000)
      if (redacted) redactions.inc()
    },
    onWrite: (kind, seconds, written) => {
      writes.observe({ kind }, seconds)
      if (!written) failures.inc({ kind })
    },
    onRefused: () => refused.inc(),
  }
}
