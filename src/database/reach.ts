/** Waits until PostgreSQL is usable, and logs the reason meanwhile. Each attempt has a deadline. */
import postgres from 'postgres'
import { withTimeout } from '../core/async/timeout.ts'
import { type Config, ConfigError } from '../core/config/config.ts'
import type { Log } from '../core/log.ts'
import { ConnectionError } from './connection/server_socket.ts'
import { isKnownServer, serverOptions } from './open.ts'

/** Milliseconds that one attempt may take, and that lie between two of them. */
const ATTEMPT_MS = 5_000
const PAUSE_MS = 500
/** Milliseconds after which the same reason is reported again. */
const REMIND_MS = 5_000
const LATE = `no response within ${ATTEMPT_MS / 1000} seconds`

/** Transient problems: the server starts, stops or is full. People have to correct all others. */
const TRANSIENT = new Set(['57P01', '57P02', '57P03', '53300'])

/** PostgreSQL did not become usable in time. The message is one line for people. */
export class ServerUnreachable extends Error {}

/** PostgreSQL answers, but refuses every sign-in. Waiting does not help. */
export class ServerRefuses extends ServerUnreachable {
  readonly code: string

  constructor(code: string, { DB_NAME, DB_USER, DB_PASSWORD }: Config) {
    const password = DB_PASSWORD === undefined ? 'DB_PASSWORD, which is not set' : 'DB_PASSWORD'
    const why =
      code === '3D000'
        ? `the database ${DB_NAME} does not exist (${code}): check DB_NAME, or create it`
        : `PostgreSQL rejected the user ${DB_USER} or the password (${code}): check DB_USER and ${password}${code === '28000' ? ', and pg_hba.conf' : ''}`
    super(why)
    this.code = code
  }
}

/**
 * Returns when PostgreSQL accepts a connection. The embedded database needs no wait.
 *
 * @throws ServerUnreachable after DB_WAIT_SECONDS; immediately ConfigError if required TLS is unavailable,
 *   ServerRefuses for a wrong password and similar, and the driver's error for other permanent problems
 */
export async function awaitServer(config: Config, log: Log): Promise<void> {
  if (config.DB_HOST === undefined) return
  const place = { host: config.DB_HOST, port: config.DB_PORT }
  const giveUpAt = performance.now() + config.DB_WAIT_SECONDS * 1000
  const reported = { reason: '', at: 0 }
  for (;;) {
    const reason = await attempt(config, place.host, log)
    if (reason === null) return
    const now = performance.now()
    if (now + PAUSE_MS >= giveUpAt) throw describeUnreachable(place, config.DB_WAIT_SECONDS, reason)
    if (reason !== reported.reason || now - reported.at >= REMIND_MS) {
      const left = { give_up_in_s: Math.ceil((giveUpAt - now) / 1000) }
      log.warning('waiting for PostgreSQL', { ...place, reason, ...left })
      reported.reason = reason
      reported.at = now
    }
    await Bun.sleep(PAUSE_MS)
  }
}

function describeUnreachable(
  { host, port }: { host: string; port: number },
  seconds: number,
  reason: string,
): ServerUnreachable {
  const tried = seconds === 0 ? '' : ` within ${seconds} s`
  return new ServerUnreachable(
    `PostgreSQL could not be reached at ${host}:${port}${tried}: ${reason}; check DB_HOST and DB_PORT`,
  )
}

/** `null`, or why it failed if another attempt may not. */
async function attempt(config: Config, host: string, log: Log): Promise<string | null> {
  try {
    await logInOnce(config, host, log)
    return null
  } catch (error) {
    const code = codeOf(error)
    if (code === 'CONNECT_TIMEOUT') return LATE
    if (code === 'CONNECTION_FOREIGN') return (error as Error).message
    const reason = explainTransient(code)
    if (reason !== null) return reason
    throw refusalOf(code, config) ?? error
  }
}

function explainTransient(code: string): string | null {
  if (/^E[A-Z]+$|^CONN|^SASL/.test(code) && code !== CLEAR && code !== NO_TLS)
    return `${WORDS[code] ?? 'the connection failed'} (${code})`
  return TRANSIENT.has(code) ? `it does not accept connections yet (${code})` : null
}

function refusalOf(code: string, config: Config): Error | null {
  if (code === CLEAR) return new ConfigError([CLEAR_PASSWORD])
  if (code === NO_TLS) return new ConfigError([WITHOUT_TLS])
  if (/CERT|LEAF_SIGNATURE/.test(code)) return new ConfigError([describeUnverified(code)])
  return /^28|^3D/.test(code) ? new ServerRefuses(code, config) : null
}

const CLEAR = 'CONNECTION_CLEAR_PASSWORD'
const NO_TLS = 'CONNECTION_NO_TLS'

function describeUnverified(code: string): string {
  return `DB_SSLMODE: PostgreSQL's certificate is not trusted, or is for another host (${code}); set DB_CA_FILE to its certificate authority (example: /etc/cloakroom/database_ca.pem)`
}

const WORDS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOENT: 'the socket does not exist',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name cannot be resolved',
  ECONNRESET: 'it closed the connection',
  CONNECTION_CLOSED: 'it closed the connection',
  CONNECTION_UNPROVEN: 'it could not prove that it knows the password',
  SASL_SIGNATURE_MISMATCH: 'it could not prove that it knows the password',
  CONNECTION_MESSAGE_TOO_LONG: 'it sent a message that is too long',
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // People read it, and a server may send anything.
  return /^\w+$/.test(code) ? code : ''
}

const WITHOUT_TLS =
  'DB_SSLMODE: requires TLS, which the PostgreSQL server does not offer (example: prefer)'

const CLEAR_PASSWORD =
  'DB_SSLMODE: the PostgreSQL server requested a cleartext password, which is sent only with verify-full or to this machine; use verify-full, or scram-sha-256 on the server (example: verify-full)'

async function logInOnce(config: Config, host: string, log: Log): Promise<void> {
  const late = new AbortController()
  const wasAsked = await withTimeout(ATTEMPT_MS, logIn(config, host, late.signal), () => {
    late.abort()
    return new ConnectionError('CONNECT_TIMEOUT')
  })
  if (!wasAsked) log.warning(NOT_ASKED, { host, port: config.DB_PORT })
}

const NOT_ASKED = 'PostgreSQL did not request DB_PASSWORD, so its identity is not verified'

/** Returns false if a password was available but not requested, and nothing else proved the server's identity. */
async function logIn(config: Config, host: string, late: AbortSignal): Promise<boolean> {
  const options = serverOptions(config, host)
  let wasAsked = isKnownServer(config, host) || config.DB_PASSWORD === undefined
  const password = () => {
    wasAsked = true
    return config.DB_PASSWORD ?? ''
  }
  const sql = postgres({ ...options, password, max: 1 })
  late.addEventListener('abort', () => void sql.end({ timeout: 0 }))
  try {
    await sql`select 1`
    return wasAsked
  } finally {
    await sql.end({ timeout: 0 })
  }
}
