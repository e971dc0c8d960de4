/** Where PostgreSQL is, as variables. */
import { z } from 'zod'
import { number } from './forms.ts'
import { placesOf } from './places.ts'

const DEFAULT_PORT = 5432

const databaseHost = z
  .string()
  .trim()
  .refine(
    (text) => placesOf(text, DEFAULT_PORT) !== null,
    'must be a host name, an address or the directory of a socket; or several names or addresses separated by commas, each with :port where it is not the usual one',
  )
  .optional()
const databasePort = number('a port number', 1, 65_535).default(DEFAULT_PORT)

export const databaseSettings = {
  DB_HOST: databaseHost.meta({
    about:
      'PostgreSQL host or socket directory, or the hosts of a primary and its standbys, separated by commas; without it the embedded database is used',
    example: 'db.internal',
    required: true,
  }),
  DB_PORT: databasePort.meta({ about: 'PostgreSQL port', example: '5432' }),
  DB_LISTEN_HOST: databaseHost.meta({
    about:
      'PostgreSQL itself, where DB_HOST is a pooler in transaction mode: notices are heard there, and nothing is kept prepared',
    example: 'db.internal',
  }),
  DB_LISTEN_PORT: databasePort.meta({ about: 'its port', example: '5432' }),
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
    about: 'password of that role',
    example: 'a long random string',
    required: true,
    secret: true,
  }),
  DB_SSLMODE: z
    .enum(['disable', 'allow', 'prefer', 'require', 'verify-full'])
    .default('prefer')
    .meta({
      about: 'TLS towards PostgreSQL; only verify-full keeps out who is on the path',
      example: 'verify-full',
    }),
  DB_CA_FILE: z.string().min(1).optional().meta({
    about:
      'PEM file of the authority that PostgreSQL has its certificate from, in place of the built-in ones; with verify-full',
    example: '/etc/cloakroom/database_ca.pem',
  }),
  DB_WAIT_SECONDS: number('a whole number of seconds', 0, 3600).default(60).meta({
    about: 'how long a start keeps trying to reach PostgreSQL; 0 tries once',
    example: '300',
  }),
}
