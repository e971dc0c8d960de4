import { z } from 'zod'
import { timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { text } from '../../http/fields.ts'

export const getInstance = defineEndpoint({
  name: 'instance.get',
  summary: 'Get the registration state and public addresses of this server',
  method: 'GET',
  path: '/api/instance/',
  access: { kind: 'public' },
  result: z.object({
    /** The first account owns the installation. */
    has_owner: z.boolean(),
    may_register: z.boolean(),
    /** Whether the first account needs OWNER_CODE. */
    needs_owner_code: z.boolean(),
    /** The addresses of both listeners, as configured; on localhost by default. */
    addresses: z
      .object({
        server: text('https://cloakroom.example.com'),
        resolver: text('https://resolver.example.com'),
      })
      .meta({ id: 'InstanceAddresses' }),
    /** The origins that accept passkeys; empty if none are configured. */
    passkey_origins: z.array(text('https://cloakroom.example.com')),
  }),
})

export const reportInstance = defineEndpoint({
  name: 'instance.report',
  summary: 'Get the status report for the server owner',
  method: 'GET',
  path: '/api/instance/report/',
  access: { kind: 'session', instanceOwner: true },
  result: z.object({
    version: text('0.1.0'),
    started_at: timestamp,
    database: z
      .object({
        kind: z.enum(['embedded', 'postgresql']),
        version: text('18.6'),
        size_bytes: z.number().int(),
        /** The last one that was applied. */
        migration: text('0015_passkeys'),
      })
      .meta({ id: 'DatabaseReport' }),
    /** The newest scheduled backup; null without one. */
    last_backup: z.object({ at: timestamp }).meta({ id: 'LastBackup' }).nullable(),
    /** When one by the clock last failed, unless one succeeded since. */
    backup_failed_at: timestamp.nullable(),
    /** The settings of the responding process, without keys. */
    settings: z
      .object({
        registration: z.enum(['open', 'first', 'closed']),
        workers: z.number().int(),
        audit_retention_days: z.number().int().nullable(),
        has_metrics: z.boolean(),
        keeps_seen_state: z.boolean(),
      })
      .meta({ id: 'InstanceSettings' }),
  }),
})

export const getSecurityContact = defineEndpoint({
  name: 'security.contact',
  summary: 'Get the security contact',
  method: 'GET',
  path: '/.well-known/security.txt',
  access: { kind: 'public' },
  mediaType: 'text/plain',
})
