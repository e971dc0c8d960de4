import { z } from 'zod'
import { timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { text } from '../../http/fields.ts'

const check = z
  .object({ status: z.enum(['healthy', 'unhealthy']), latency_ms: z.number() })
  .meta({ id: 'HealthCheck' })

const health = z
  .object({
    status: z.enum(['healthy', 'degraded']),
    version: text('0.1.0'),
    uptime_seconds: z.number().int(),
    checks: z.object({ database: check, cache: check, encryption: check }),
  })
  .meta({ id: 'Health' })

export const getHealth = defineEndpoint({
  name: 'health.get',
  summary: 'Check the service and its dependencies; returns 503 when degraded',
  method: 'GET',
  path: '/api/status/health/',
  access: { kind: 'public' },
  result: health,
  bare: true,
  degradable: true,
})

export const getStatus = defineEndpoint({
  ...getHealth,
  name: 'health.status',
  path: '/api/status/',
})

export const getResolverHealth = defineEndpoint({
  name: 'health.resolver',
  summary: 'Check that the resolver responds',
  method: 'GET',
  path: '/healthz',
  access: { kind: 'public' },
  result: z.object({ status: z.literal('healthy'), service: z.literal('resolver'), timestamp }),
  bare: true,
})
