/**
 * Every variable of the environment, declared once with its meaning and an example: what config.ts
 * validates by, and what the table in docs/guides/self-hosting.md is made from. What is `secret` may be in a file.
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

/** The declaration: order is the order of the documentation. */
export const settings = z.object({
  SERVICE_SETTINGS: z.enum(['production', 'development']).default('development').meta({
    about: 'production demands every variable marked so; development fills gaps',
    example: 'production',
  }),
  SECRET_KEY: z
    .string()
    .refine(
      (text) => secretKeysOf(text).every((entry) => entry.length >= 32),
      'must have at least 32 characters, or be several such keys separated by commas',
    )
    .refine((text) => succeeds(() => Pepper.parse(text)), 'must not name a key twice')
    .optional()
    .meta({
      about:
        'what passwords, passkeys, sessions and tokens are stored under, and the key of cursors; a comma-separated list rotates: the first makes, all are tried',
      example: 'a line printed by cloakroom keygen',
      required: true,
      secret: true,
    }),
  SECRET_KEY_LOST: list
    .refine(
      (ids) => ids.every((id) => /^[0-9a-f]{8}$/.test(id)),
      'must be ids of keys, 8 hex digits each, separated by commas',
    )
    .default([])
    .meta({
      about:
        'ids of keys that are no longer in SECRET_KEY although passwords, sessions or tokens were made under them: a start is refused without it',
      example: '3f9a1c07',
    }),
  ENCRYPTION_KEY: key(
    OuterLayer.parse,
    'must be 32 bytes in URL-safe base64, or several separated by commas',
  )
    .optional()
    .meta({
      about:
        'the outer layer over everything sealed; a comma-separated list rotates: the first encrypts, all decrypt',
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
    // A Host header has brackets around an IPv6 address; what hands out addresses has not.
    .transform((names) => names.map((name) => (isIP(name) === 6 ? `[${name}]` : name)))
    .refine(
      (names) => names.length > 0 && names.every((name) => HOST_NAME.test(name)),
      'must be host names without scheme, port or path, separated by commas',
    )
    .default(['localhost', '127.0.0.1', '[::1]'])
    .meta({
      about:
        'host names that requests may carry; .example.com also allows subdomains, * allows all',
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
      'file of what was seen of signed workspaces, which a database that goes back is noticed by after a restart too; with the embedded database one in DATA_DIR unless given, else none',
    example: '/var/lib/cloakroom/signed_state.sqlite',
  }),
  HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .meta({ about: 'address to listen on', example: '0.0.0.0' }),
  PORT: port
    .default(8000)
    .meta({ about: 'port of the control plane; 0 picks a free one', example: '8000' }),
  RESOLVER_PORT: port
    .default(8080)
    .meta({ about: 'port of the resolver; 0 picks a free one', example: '8080' }),
  ADMIN_PORT: port.optional().meta({
    about: 'port of the admin listener with GET /metrics for Prometheus; without it there is none',
    example: '9464',
  }),
  ROLE: z
    .enum(['all', 'control-plane', 'resolver'])
    .default('all')
    .meta({ about: 'which listeners this process opens', example: 'resolver' }),
  WORKERS: number('a number of processes', 1, 64).default(1).meta({
    about: 'processes that serve the ports together; more than 1 needs PostgreSQL',
    example: '4',
  }),
  DRAIN_SECONDS: number('a whole number of seconds', 0, 300).default(0).meta({
    about:
      'how long a process that was told to stop goes on accepting, while its health says that it stops, so that a balancer turns away before its ports close',
    example: '10',
  }),
  LOG_LEVEL: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['debug', 'info', 'warning', 'error']))
    .default('info')
    .meta({ about: 'least severity that is logged', example: 'warning' }),
  REGISTRATION: z
    .enum(['open', 'first', 'closed'])
    .default('open')
    .meta({ about: 'who may register: anybody, only the first account, nobody', example: 'first' }),
  OWNER_CODE: z.string().min(16, 'must have at least 16 characters').optional().meta({
    about:
      'what the first account, which owns the installation, must bring; without it, who registers first',
    example: 'a long random string',
    secret: true,
  }),
  TRUSTED_PROXIES: key(parseCidrs, 'must be networks such as 10.0.0.0/8, separated by commas')
    .default('')
    .meta({ about: 'networks whose X-Forwarded headers are believed', example: '10.0.0.0/8' }),
  RESOLVER_ALLOW_NETWORKS: key(
    parseCidrs,
    'must be networks such as 10.1.0.0/16, separated by commas',
  )
    .default('')
    .meta({
      about: 'networks that may be dialled although they are not public',
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
      about: 'names consulted before DNS, for split horizons; the address check still applies',
      example: 'api.internal=10.1.2.3',
    }),
  SERVICE_SERVER_URL: publicUrl.meta({
    about: 'the address at which clients reach the control plane, for the OpenAPI document',
    example: 'https://vault.example.com',
  }),
  SERVICE_RESOLVER_URL: publicUrl.meta({
    about: 'the address at which clients reach the resolver, for the OpenAPI document',
    example: 'https://resolver.example.com',
  }),
  SECURITY_CONTACT: list
    .refine(
      (addresses) => addresses.every((text) => /^(mailto:|https:\/\/|tel:)[!-~]+$/.test(text)),
      'must be addresses that begin with mailto:, https:// or tel:, separated by commas',
    )
    .default([])
    .meta({
      about:
        'whom people report holes of this installation to, in /.well-known/security.txt; without it there is none',
      example: 'mailto:security@example.com',
    }),
  PASSKEY_ORIGINS: passkeyOrigins.meta({
    about:
      'origins of pages on which people may use passkeys, https or localhost; without it that of SERVICE_SERVER_URL, if it is such a one',
    example: 'https://vault.example.com',
  }),
  RESOLVER_CA_FILE: z.string().min(1).optional().meta({
    about: 'PEM file of certificate authorities trusted besides the built-in ones',
    example: '/etc/cloakroom/ca.pem',
  }),
  RESOLVER_TIMEOUT_MS: number('a whole number of milliseconds', 1, MAX_CALL_MS)
    .default(30_000)
    .meta({
      about: 'total deadline of an outbound call in JSON unless the request names one',
      example: '30000',
    }),
  RESOLVER_SILENCE_MS: number('a whole number of milliseconds', 1, MAX_CALL_MS)
    .default(MAX_CALL_MS)
    .meta({
      about:
        'longest silence of an API in forward mode, the local proxy, streams and WebSockets; a request may name a shorter one',
      example: '120000',
    }),
  RESOLVER_CONCURRENCY: number('a number of calls', 1, 30_000).default(1000).meta({
    about:
      'outbound calls of one workspace that run at once, divided by the resolvers on one PostgreSQL, streams and WebSockets included; as many wait, a second at most',
    example: '500',
  }),
  BODY_MEMORY_MIB: number('a number of MiB', 256, 65_536).default(BODY_MEMORY_MIB).meta({
    about:
      'memory of a process for bodies of requests and answers, a quarter of it for one workspace; a local proxy may use all of it',
    example: '2048',
  }),
  KEY_CACHE_SECONDS: number('a whole number of seconds', 0, 3600).default(60).meta({
    about: 'how long the resolver keeps an opened environment key; 0 keeps none',
    example: '0',
  }),
  ...backupSettings,
  ...traceSettings,
  AUDIT_RETENTION_DAYS: number('a number of days', 1, 36_500).optional().meta({
    about: 'days that audit records are kept; without it they are kept for ever',
    example: '365',
  }),
  ...quotaSettings,
  RATE_REGISTER: rate
    .default({ count: 100, seconds: 3600 })
    .meta({ about: 'registrations per network', example: '100/3600' }),
  RATE_LOGIN: rate
    .default({ count: 240, seconds: 60 })
    .meta({ about: 'log-ins and other password checks per network', example: '240/60' }),
  RATE_API: rate
    .default({ count: 600, seconds: 10 })
    .meta({ about: 'control-plane requests per session', example: '600/10' }),
  RATE_TOKEN: rate
    .default({ count: 1000, seconds: 1 })
    .meta({ about: 'resolver and delivery requests per token', example: '1000/1' }),
})
