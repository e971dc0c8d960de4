/** The settings of the PostgreSQL connection. */
import { z } from 'zod'
import { number } from './forms.ts'
import { placesOf } from './places.ts'

const DEFAULT_PORT = 5432

const databaseHost = z
  .string()
  .trim()
  .refine(
    (text) => placesOf(text, DEFAULT_PORT) !== null,
    'must be a host, a socket directory, or several hosts separated by commas, each with an optional :port',
  )
  .optional()
const databasePort = number('a port number', 1, 65_535).default(DEFAULT_PORT)

export const databaseSettings = {
  DB_HOST: databaseHost.meta({
    about: 'PostgreSQL host, or its primary and standbys. Unset: embedded database',
    example: 'db.internal',
    required: true,
  }),
  DB_PORT: databasePort.meta({ about: 'PostgreSQL port', example: '5432' }),
  DB_LISTEN_HOST: databaseHost.meta({
    about: 'direct PostgreSQL host for LISTEN if DB_HOST is a pooler in transaction mode',
    example: 'db.internal',
  }),
  DB_LISTEN_PORT: databasePort.meta({ about: 'port of DB_LISTEN_HOST', example: '5432' }),
  DB_NAME: z
    .string()
    .min(1)
    .optional()
    .meta({ about: 'PostgreSQL database', example: 'cloakroom', required: true }),
  DB_USER: z
    .string()
    .min(1)
    .optional()
    .meta({ about: 'PostgreSQL role', example: 'cloakroom', required: true }),
  DB_PASSWORD: z.string().optional().meta({
    about: 'password of the PostgreSQL role',
    example: 'a long random string',
    required: true,
    secret: true,
  }),
  DB_SSLMODE: z
    .enum(['disable', 'allow', 'prefer', 'require', 'verify-full'])
    .default('prefer')
    .meta({
      about:
        'TLS mode for PostgreSQL; only verify-full protects against an attacker on the network',
      example: 'verify-full',
    }),
  DB_CA_FILE: z.string().min(1).optional().meta({
    about: 'PEM file of the certificate authority for verify-full. Unset: built-in authorities',
    example: '/etc/cloakroom/database_ca.pem',
  }),
  DB_WAIT_SECONDS: number('a whole number of seconds', 0, 3600).default(60).meta({
    about: 'how long a start retries PostgreSQL; 0 tries once',
    example: '300',
  }),
}
