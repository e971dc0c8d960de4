/**
 * One driver for both databases: postgres.js speaks to a PostgreSQL server, or through a private
 * socket to the embedded one, which has a single connection.
 */
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { readAuthorities } from '../core/config/authorities.ts'
import type { Config } from '../core/config/config.ts'
import { areOnThisMachine, placesOf } from '../core/config/places.ts'
import { formatAnnouncedName } from './announced.ts'
import { connectToPath, type Reach, socketTo } from './connection/dial.ts'
import type { ServerOptions } from './connection/lane.ts'
import { openPool } from './connection/pool.ts'
import { RepeatedStatements } from './connection/repeated_statements.ts'
import { createRoutedClient, handlerOf } from './connection/routed.ts'
import { transactOn } from './connection/transaction.ts'
import { openEmbedded } from './embedded/open.ts'
import { nameWithKeys } from './keys/live_keys.ts'
import * as schema from './schema/index.ts'
import { withSpans } from './traced.ts'

export type Database = PostgresJsDatabase<typeof schema>
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0]
/** A database or transaction that can run statements which only read. */
export type Reading = Database | Transaction

export type Connection = {
  db: Database
  sql: postgres.Sql
  kind: 'postgresql' | 'embedded'
  /** The data's location, for people: without a password. */
  location: string
  /** Opens a connection outside of the pool and of any pooler. Its default name is that of a listening connection. */
  connectBesides(name?: string): postgres.Sql
  close(): Promise<void>
}

const COMMON = {
  onnotice: () => {},
  /** Seconds. */
  connect_timeout: 5,
  /**
   * Without this, the driver queries array types on each new connection, in a promise that is not awaited: a server
   * that disappears at that moment would cause an unhandled rejection. No statement uses arrays.
   */
  fetch_types: false,
  /** The pool does this, between statements. */
  max_lifetime: null,
  /** `socket` connects; the driver would read PGHOST and PGSSLMODE. */
  host: 'localhost',
  ssl: false,
  /** Seconds before another attempt; a connection that lived for less than a second is a failure, too. */
  backoff: (failures: number) => (0.5 + Math.random() / 2) * Math.min(0.05 * 2 ** failures, 1),
} as const

/** Connections per process to a PostgreSQL server. */
export const POOL_SIZE = 10

export async function openDatabase(
  config: Config,
  onFailure: (reason: string) => void,
  options: { isTraced?: boolean; isServing?: boolean } = {},
): Promise<Connection> {
  const connection =
    config.DB_HOST === undefined
      ? await openLocal(config, onFailure)
      : openServer(config, config.DB_HOST, options.isServing)
  return options.isTraced ? { ...connection, ...wrap(withSpans(connection.sql)) } : connection
}

/** How a client of the driver reaches PostgreSQL; `host` is DB_HOST. */
export function serverOptions(config: Config, host: string) {
  return {
    ...COMMON,
    connection: { application_name: nameWithKeys(config.ENCRYPTION_KEY) },
    socket: socketTo(reachOf(config, host, config.DB_PORT)),
    database: config.DB_NAME ?? '',
    user: config.DB_USER ?? '',
    ...(config.DB_PASSWORD === undefined ? {} : { password: config.DB_PASSWORD }),
    // A pooler in transaction mode gives each transaction to any session, which has not prepared its statements.
    prepare: config.DB_LISTEN_HOST === undefined,
  } as const
}

/** Whether the server has a verified identity. Only such a server may request the password in clear. */
export function isKnownServer({ DB_SSLMODE }: Config, host: string): boolean {
  return DB_SSLMODE === 'verify-full' || areOnThisMachine(host)
}

function reachOf(config: Config, host: string, port: number): Reach {
  return {
    places: placesOf(host, port) ?? [],
    tls: tlsOf(config),
    mayAskInClear: isKnownServer(config, host),
  }
}

/** @throws ConfigError when DB_CA_FILE cannot be read */
function tlsOf({ DB_SSLMODE: mode, DB_CA_FILE }: Config): Reach['tls'] {
  if (mode === 'disable') return false
  const ca = readAuthorities(DB_CA_FILE, 'DB_CA_FILE')
  const isOptional = mode === 'prefer' || mode === 'allow'
  if (mode !== 'verify-full') return { isOptional, options: { rejectUnauthorized: false } }
  return { isOptional, options: ca === undefined ? {} : { ca } }
}

function openServer(config: Config, host: string, isServing = false): Connection {
  const options = serverOptions(config, host)
  const { DB_LISTEN_HOST, DB_LISTEN_PORT } = config
  const sql = openPool(options, { size: POOL_SIZE, isServing })
  const itself =
    DB_LISTEN_HOST === undefined
      ? {}
      : { socket: socketTo(reachOf(config, DB_LISTEN_HOST, DB_LISTEN_PORT)) }
  return {
    ...wrap(sql),
    kind: 'postgresql',
    location: `${config.DB_NAME} on ${host}:${config.DB_PORT}`,
    connectBesides: (name = formatAnnouncedName(config.ENCRYPTION_KEY)) =>
      postgres({ ...options, ...itself, max: 1, connection: { application_name: name } }),
    close: () => sql.end({ timeout: 5 }),
  }
}

async function openLocal(config: Config, onFailure: (reason: string) => void): Promise<Connection> {
  let client: postgres.Sql | undefined
  const embedded = await openEmbedded({
    dataDir: config.DATA_DIR,
    onFailure: (reason) => {
      // The driver would retry the connection forever, and its queries would never be rejected.
      void client?.end({ timeout: 0 })
      onFailure(reason)
    },
  })
  const { path, ...session } = embedded.settings
  client = postgres({
    ...COMMON,
    ...session,
    max: 1,
    // The driver does not reserve the connection for a transaction that begins at the end of a full pipeline.
    max_pipeline: Number.MAX_SAFE_INTEGER,
    socket: () => connectToPath(path),
  } as ServerOptions)
  const driver = client
  const repeated = new RepeatedStatements()
  const sql = createRoutedClient(driver, {
    route: handlerOf(driver),
    repeated,
    begin: (...args) => transactOn(driver, repeated, args),
  })
  return {
    ...wrap(sql),
    kind: 'embedded',
    location: embedded.directory,
    connectBesides: () => {
      throw new Error('the embedded database has one connection')
    },
    close: async () => {
      await sql.end({ timeout: 5 })
      await embedded.close()
    },
  }
}

function wrap(sql: postgres.Sql) {
  return { sql, db: drizzle(sql, { schema, casing: 'snake_case' }) }
}

/** Returns a database for a transaction that was begun without drizzle, which needs the client's options. */
export function databaseIn(tx: postgres.TransactionSql, { options }: postgres.Sql): Database {
  return wrap(Object.assign(tx, { options }) as unknown as postgres.Sql).db
}
