/** Counts of waiting, cached and open objects, for a report. */
import type { Access } from '../access/index.ts'
import type { AuditTrail } from '../audit/trail.ts'
import type { BodyMemory } from '../core/body_memory.ts'
import type { Tracer } from '../core/trace/tracer.ts'
import type { Resolver } from '../resolver/index.ts'

export function figuresOf(parts: {
  trail: AuditTrail
  access: Access
  resolver: Resolver
  tracer: Tracer | null
  bodies: BodyMemory
}): object {
  const { tokens, snapshots, keys } = parts.access
  return {
    audit_queue: parts.trail.depth,
    caches: { tokens: tokens.stats, snapshots: snapshots.stats, keys: keys.stats },
    open_calls: parts.resolver.open,
    body_bytes: parts.bodies.taken,
    traces: parts.tracer?.counts ?? null,
  }
}
