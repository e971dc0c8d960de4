/**
 * Waits until PostgreSQL can be used, and says so while it cannot. The driver alone would be no judge: it
 * waits for ever for a listener that speaks something else. So one connection is greeted here first, and
 * nothing is left to it without a deadline.
 */
import { connect } from 'node:net'
import postgres from 'postgres'
import { withTimeout } from '../core/async/timeout.ts'
import { type Config, ConfigError } from '../core/config/config.ts'
import { type Place, placesOf } from '../core/config/places.ts'
import type { Log } from '../core/log.ts'
import { serverOptions } from './open.ts'

/** Milliseconds that one attempt may take, and that lie between two of them. */
const ATTEMPT_MS = 5_000
const PAUSE_MS = 500
/** Milliseconds after which the same reason is reported again. */
const REMIND_MS = 5_000

/** What changes by itself: it starts, it stops, it is full. Anything else is for people to correct. */
const PASSING = new Set(['57P01', '57P02', '57P03', '53300'])

/** PostgreSQL did not become usable in time; the message is one line for people. */
export class ServerUnreachable extends Error {}

/** It answers, and lets us in nowhere: no waiting mends that. */
export class ServerRefuses extends ServerUnreachable {
  readonly code: string

  constructor(code: string, { DB_NAME, DB_USER, DB_PASSWORD }: Config) {
    const password = DB_PASSWORD === undefined ? 'DB_PASSWORD, which is not set' : 'DB_PASSWORD'
    const why =
      code === '3D000'
        ? `there is no database ${DB_NAME} (${code}): check DB_NAME, or make it`
        : `PostgreSQL refuses the user ${DB_USER}, or the password (${code}): check DB_USER and ${password}${code === '28000' ? ', and pg_hba.conf' : ''}`
    super(why)
    this.code = code
  }
}

/** What is wrong with an attempt, in words that follow "host:port". */
class Unusable extends Error {}

/**
 * Returns when PostgreSQL accepts us. With the embedded database there is nothing to wait for.
 *
 * @throws ServerUnreachable after DB_WAIT_SECONDS; at once ConfigError where TLS is demanded and not to
 *   be had, ServerRefuses for a wrong password and the like, and the driver's error for what else no waiting mends
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
    if (now + PAUSE_MS >= giveUpAt) throw unreachable(place, config.DB_WAIT_SECONDS, reason)
    if (reason !== reported.reason || now - reported.at >= REMIND_MS) {
      const left = { give_up_in_s: Math.ceil((giveUpAt - now) / 1000) }
      log.warning('waiting for PostgreSQL', { ...place, reason, ...left })
      reported.reason = reason
      reported.at = now
    }
    await Bun.sleep(PAUSE_MS)
  }
}

function unreachable(
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
    await greetOne(config, host)
    await logInOnce(config, host, log)
    return null
  } catch (error) {
    if (error instanceof Unusable) return error.message
    const code = codeOf(error)
    const reason = passingReason(code)
    if (reason !== null) return reason
    throw refusalOf(code, config) ?? error
  }
}

function passingReason(code: string): string | null {
  if (/^E[A-Z]+$|^CONN/.test(code) && code !== CLEAR)
    return `${WORDS[code] ?? 'the connection failed'} (${code})`
  return PASSING.has(code) ? `it does not accept us yet (${code})` : null
}

function refusalOf(code: string, config: Config): Error | null {
  if (code === CLEAR) return new ConfigError([CLEAR_PASSWORD])
  if (/CERT|LEAF_SIGNATURE/.test(code)) return new ConfigError([unverified(code)])
  return /^28|^3D/.test(code) ? new ServerRefuses(code, config) : null
}

const CLEAR = 'CONNECTION_CLEAR_PASSWORD'

function unverified(code: string): string {
  return `DB_SSLMODE: verify-full, and PostgreSQL's certificate is not of an authority that is trusted, or not for this host (${code}); DB_CA_FILE names the authority (example: /etc/cloakroom/database_ca.pem)`
}

const WORDS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOENT: 'there is no such socket',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name cannot be looked up',
  ECONNRESET: 'it closed the connection',
  CONNECTION_CLOSED: 'it closed the connection',
  CONNECTION_UNPROVEN: 'it did not prove that it knows the password',
  CONNECTION_MESSAGE_TOO_LONG: 'it sends more than PostgreSQL does',
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Of several, one that speaks PostgreSQL is enough: which is the primary is seen at the log-in. */
async function greetOne(config: Config, hosts: string): Promise<void> {
  const greeted = (placesOf(hosts, config.DB_PORT) ?? []).map((place) =>
    attend((late) => greet(config, place, late)),
  )
  await Promise.any(greeted).catch((error: AggregateError) => {
    throw error.errors[0]
  })
}

/** What is late is aborted. */
async function attend<T>(work: (late: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController()
  return await withTimeout(ATTEMPT_MS, work(late.signal), () => {
    late.abort()
    return new Unusable(`no answer within ${ATTEMPT_MS / 1000} seconds`)
  })
}

/** SSLRequest (PostgreSQL documentation, "Message Formats"): its length and the code 80877103. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** PostgreSQL alone answers this with a single `S` or `N`, or with an error message. */
function greet({ DB_SSLMODE }: Config, { host, port }: Place, late: AbortSignal): Promise<void> {
  const socket = connect(
    host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
  )
  late.addEventListener('abort', () => socket.destroy())
  return new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('close', () => reject(new Unusable('it closed the connection without an answer')))
    socket.once('connect', () => socket.write(SSL_REQUEST))
    socket.once('data', (answer: Buffer) => {
      const [first = 0] = answer
      const letter = String.fromCharCode(first)
      const isGreeting = letter === 'E' || (answer.length === 1 && 'SN'.includes(letter))
      if (!isGreeting) reject(new Unusable('what listens there does not speak PostgreSQL'))
      else if (letter === 'N' && demandsTls(DB_SSLMODE)) reject(new ConfigError([NO_TLS]))
      else resolve()
    })
  }).finally(() => socket.destroy())
}

const NO_TLS =
  'DB_SSLMODE: demands TLS, which the PostgreSQL server does not offer (example: prefer)'

const CLEAR_PASSWORD =
  'DB_SSLMODE: the PostgreSQL server asked for the password in clear, which it is told only with verify-full or on this machine; or have it ask by scram-sha-256 (example: verify-full)'

function demandsTls(mode: Config['DB_SSLMODE']): boolean {
  return mode === 'require' || mode === 'verify-full'
}

async function logInOnce(config: Config, host: string, log: Log): Promise<void> {
  const wasAsked = await attend((late) => logIn(config, host, late))
  if (!wasAsked) log.warning(NOT_ASKED, { host, port: config.DB_PORT })
}

const NOT_ASKED = 'PostgreSQL did not ask for DB_PASSWORD: anybody may be it'

/** False where a password was there to be asked for, and nothing else showed who the server is. */
async function logIn(config: Config, host: string, late: AbortSignal): Promise<boolean> {
  const options = serverOptions(config, host)
  let wasAsked = options.clear_password || config.DB_PASSWORD === undefined
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
