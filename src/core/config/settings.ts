/**
 * Every environment variable, declared once with its meaning and an example. config.ts validates with these declarations
 * and generates docs/reference/settings.md from them. A `secret` setting may be in a file.
 */
import { isIP } from 'node:net'
import { z } from 'zod'
import { BODY_MEMORY_MIB } from '../body_memory.ts'
import { OuterLayer } from '../crypto/outer_layer.ts'
import { Pepper, secretKeysOf } from '../crypto/pepper.ts'
import { parseCidrs } from '../net/cidr.ts'
import { MAX_CALL_MS } from '../policy/policy.ts'
import { backupSettings } from './backup_settings.ts'
import { databaseSettings } from './database_settings.ts'
import { HOST_NAME, key, list, number, port, succeeds } from './forms.ts'
import { passkeyOrigins } from './passkey_origins.ts'
import { publicUrl } from './public_url.ts'
import { quotaSettings } from './quota_settings.ts'
import { rate } from './rate.ts'
import { traceSettings } from './trace_settings.ts'

/** In the order of the documentation. */
export const settings = z.object({
  SERVICE_SETTINGS: z.enum(['production', 'development']).default('development').meta({
    about: 'production requires the marked settings; development generates missing keys',
    example: 'production',
  }),
  SECRET_KEY: z
    .string()
    .refine(
      (text) => secretKeysOf(text).every((entry) => entry.length >= 32),
      'must have at least 32 characters; separate several keys with commas',
    )
    .refine((text) => succeeds(() => Pepper.parse(text)), 'must not name a key twice')
    .optional()
    .meta({
      about:
        'protects stored passwords, passkeys, sessions, tokens and cursors. In a list, the first key creates and all keys verify',
      example: 'a line printed by cloakroom keygen',
      required: true,
      secret: true,
    }),
  SECRET_KEY_LOST: list
    .refine(
      (ids) => ids.every((id) => /^[0-9a-f]{8}$/.test(id)),
      'must be key IDs of 8 hex digits each, separated by commas',
    )
    .default([])
    .meta({
      about:
        'IDs of keys missing from SECRET_KEY that stored passwords, sessions or tokens still use. Without them, the start fails',
      example: '3f9a1c07',
    }),
  ENCRYPTION_KEY: key(
    OuterLayer.parse,
    'must be 32 bytes in URL-safe base64; separate several keys with commas',
  )
    .optional()
    .meta({
      about:
        'encrypts sealed data again at rest. In a list, the first key encrypts and all keys decrypt',
      example: 'a line printed by cloakroom keygen',
      required: true,
      secret: true,
    }),
  CRON_SECRET: z.string().min(16, 'must have at least 16 characters').optional().meta({
    about: 'bearer token of the internal metrics endpoint',
    example: 'a line printed by cloakroom keygen',
    required: true,
    secret: true,
  }),
  ALLOWED_HOSTS: list
    // A Host header has brackets around an IPv6 address. Address lists usually have none.
    .transform((names) => names.map((name) => (isIP(name) === 6 ? `[${name}]` : name)))
    .refine(
      (names) => names.length > 0 && names.every((name) => HOST_NAME.test(name)),
      'must be host names without scheme, port or path, separated by commas',
    )
    .default(['localhost', '127.0.0.1', '[::1]'])
    .meta({
      about: 'accepted Host headers; `.example.com` includes subdomains, `*` accepts all',
      example: 'vault.example.com,localhost',
      required: true,
    }),
  ...databaseSettings,
  DATA_DIR: z.string().min(1).default('cloakroom-data').meta({
    about: 'directory of the embedded database and its keys',
    example: '/var/lib/cloakroom',
  }),
  SIGNED_STATE_FILE: z.string().min(1).optional().meta({
    about:
      'file that detects a rolled-back database after a restart. With the embedded database, the default is a file in DATA_DIR',
    example: '/var/lib/cloakroom/signed_state.sqlite',
  }),
  HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .meta({ about: 'IP address to listen on', example: '0.0.0.0' }),
  PORT: port
    .default(8000)
    .meta({ about: 'control plane port; 0 chooses a free port', example: '8000' }),
  RESOLVER_PORT: port
    .default(8080)
    .meta({ about: 'resolver port; 0 chooses a free port', example: '8080' }),
  ADMIN_PORT: port.optional().meta({
    about: 'port for Prometheus metrics (GET /metrics). Unset: no listener',
    example: '9464',
  }),
  ROLE: z
    .enum(['all', 'control-plane', 'resolver'])
    .default('all')
    .meta({ about: 'listeners of this process', example: 'resolver' }),
  WORKERS: number('a number of processes', 1, 64).default(1).meta({
    about: 'processes that share the ports; more than 1 requires PostgreSQL',
    example: '4',
  }),
  DRAIN_SECONDS: number('a whole number of seconds', 0, 300).default(0).meta({
    about: 'seconds to keep accepting requests after a stop signal, while health checks fail',
    example: '10',
  }),
  LOG_LEVEL: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['debug', 'info', 'warning', 'error']))
    .default('info')
    .meta({ about: 'minimum severity of log entries', example: 'warning' }),
  REGISTRATION: z.enum(['open', 'first', 'closed']).default('open').meta({
    about: 'open: anyone can register; first: only the first account; closed: nobody',
    example: 'first',
  }),
  OWNER_CODE: z.string().min(16, 'must have at least 16 characters').optional().meta({
    about: 'code required for the first registration, which owns the server',
    example: 'a long random string',
    secret: true,
  }),
  TRUSTED_PROXIES: key(parseCidrs, 'must be networks such as 10.0.0.0/8, separated by commas')
    .default('')
    .meta({
      about: 'networks of trusted reverse proxies (X-Forwarded headers)',
      example: '10.0.0.0/8',
    }),
  RESOLVER_ALLOW_NETWORKS: key(
    parseCidrs,
    'must be networks such as 10.1.0.0/16, separated by commas',
  )
    .default('')
    .meta({
      about: 'private networks that the resolver may connect to',
      example: '10.1.0.0/16,fd00::/8',
    }),
  RESOLVER_HOSTS: list
    .refine(
      (entries) =>
        entries.every((entry) => {
          const [name = '', address = '', ...rest] = entry.split('=')
          return /^[^\s:/]+$/.test(name) && isIP(address) > 0 && rest.length === 0
        }),
      'must be name=address pairs separated by commas, each address an IP address without port',
    )
    .default([])
    .meta({
      about: 'name resolution before DNS; private addresses still need RESOLVER_ALLOW_NETWORKS',
      example: 'api.internal=10.1.2.3',
    }),
  SERVICE_SERVER_URL: publicUrl.meta({
    about: 'public address of the control plane',
    example: 'https://vault.example.com',
  }),
  SERVICE_RESOLVER_URL: publicUrl.meta({
    about: 'public address of the resolver',
    example: 'https://resolver.example.com',
  }),
  SECURITY_CONTACT: list
    .refine(
      (addresses) => addresses.every((text) => /^(mailto:|https:\/\/|tel:)[!-~]+$/.test(text)),
      'must be addresses that begin with mailto:, https:// or tel:, separated by commas',
    )
    .default([])
    .meta({
      about: 'security contacts in /.well-known/security.txt. Unset: no such file',
      example: 'mailto:security@example.com',
    }),
  PASSKEY_ORIGINS: passkeyOrigins.meta({
    about: 'origins that accept passkeys. Unset: the origin of SERVICE_SERVER_URL',
    example: 'https://vault.example.com',
  }),
  RESOLVER_CA_FILE: z.string().min(1).optional().meta({
    about: 'PEM file with additional certificate authorities for outbound calls',
    example: '/etc/cloakroom/ca.pem',
  }),
  RESOLVER_TIMEOUT_MS: number('a whole number of milliseconds', 1, MAX_CALL_MS)
    .default(30_000)
    .meta({
      about: 'default total timeout of a JSON call',
      example: '30000',
    }),
  RESOLVER_SILENCE_MS: number('a whole number of milliseconds', 1, MAX_CALL_MS)
    .default(MAX_CALL_MS)
    .meta({
      about:
        'maximum silence of an API in forward mode, the local proxy, streams and WebSockets; a request can set a shorter one',
      example: '120000',
    }),
  RESOLVER_CONCURRENCY: number('a number of calls', 1, 30_000).default(1000).meta({
    about:
      'simultaneous outbound calls of a workspace, shared by all resolvers. The same number can wait for up to 1 second',
    example: '500',
  }),
  BODY_MEMORY_MIB: number('a number of MiB', 256, 65_536).default(BODY_MEMORY_MIB).meta({
    about: 'memory per process for request and response bodies; one workspace can use a quarter',
    example: '2048',
  }),
  KEY_CACHE_SECONDS: number('a whole number of seconds', 0, 3600).default(60).meta({
    about: 'how long the resolver caches a decrypted environment key; 0 disables the cache',
    example: '0',
  }),
  ...backupSettings,
  ...traceSettings,
  AUDIT_RETENTION_DAYS: number('a number of days', 1, 36_500).optional().meta({
    about: 'retention of audit records. Unset: unlimited',
    example: '365',
  }),
  ...quotaSettings,
  RATE_REGISTER: rate
    .default({ count: 100, seconds: 3600 })
    .meta({ about: 'registrations per network', example: '100/3600' }),
  RATE_LOGIN: rate
    .default({ count: 240, seconds: 60 })
    .meta({ about: 'sign-ins and other password checks per network', example: '240/60' }),
  RATE_API: rate
    .default({ count: 600, seconds: 10 })
    .meta({ about: 'control plane requests per session', example: '600/10' }),
  RATE_TOKEN: rate
    .default({ count: 1000, seconds: 1 })
    .meta({ about: 'resolver and delivery requests per token', example: '1000/1' }),
})
