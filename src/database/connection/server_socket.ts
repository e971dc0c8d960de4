/**
 * Replaces the driver's socket. The driver trusts all input, and reconnects in the middle of a transaction. This class
 * checks how the server authenticates, bounds the length of messages, and tracks whether an answer is due. After a
 * failure, it rejects every later statement instead of reconnecting.
 */
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

/** `code` begins with CONNECT: such errors mean an unavailable database (../errors.ts). */
export class ConnectionError extends Error {
  readonly code: string

  constructor(code: string, message = code) {
    super(message)
    this.code = code
  }
}

export const buildForeignError = (message = 'the port is not a PostgreSQL server') =>
  new ConnectionError('CONNECTION_FOREIGN', message)

type Expectations = {
  /** Whether the server may request the password in clear. */
  mayAskInClear: boolean
  /** Called instead of a failure by a standby, where only a primary is wanted. */
  onStandby?: (() => void) | undefined
  /** A kept connection never closes for the driver, so the driver does not open another one. */
  isKept?: boolean
}

/** The authentication requests that may follow each one. SCRAM ends with the server's proof (RFC 5802, section 3). */
const FOLLOWING: Record<number, readonly number[]> = {
  [-1]: [0, 3, 5, 10],
  3: [0],
  5: [0],
  10: [11],
  11: [12],
  12: [0],
}
const CLEAR_TEXT = 3
const SCRAM_CHALLENGE = 11
/** The driver derives the key in one go: more iterations would stop the process for seconds. */
const ITERATIONS = /(?:^|,)i=(?:[1-9]\d{0,5}|1000000)(?:,|$)/
const MAX_START_BYTES = 64 * 1024
/** Twice the longest row that is stored. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

const codesOf = (letters: string) => new Set(Buffer.from(letters))
const START_TYPES = codesOf('RSKENvZ')
const [READY, AUTHENTICATION, SYNC, QUERY, FLUSH] = Buffer.from('ZRSQH')
/** Types that answer a Flush. */
const ANSWERS_FLUSH = codesOf('tsEC')

export class ServerSocket extends EventEmitter {
  isKept: boolean
  /** Called once, when the connection is lost. */
  onLost: (error: Error) => void = () => {}
  /** Set with every byte; the pool clears it. */
  hasReceived = false
  readonly #socket: Socket
  readonly #raw: Socket
  readonly #expects: Expectations
  #failure: Error | null = null
  #isEnded = false
  #isStarting = true
  #startBytes = 0
  #step = -1
  /** The beginning of a message, or the number of its missing bytes. */
  #held: Buffer = Buffer.alloc(0)
  #skip = 0
  #due = 0
  #isFlushDue = false

  /** `raw` is the TCP connection below TLS. */
  constructor(socket: Socket, raw: Socket, expects: Expectations) {
    super()
    this.#socket = socket
    this.#raw = raw
    this.#expects = expects
    this.isKept = expects.isKept === true
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    for (const each of new Set([socket, raw])) {
      each.on('error', (error) => this.fail(error))
      each.on('close', () => this.#close())
    }
  }

  get readyState(): string {
    return this.#failure ? 'closed' : 'open'
  }

  /** Whether the server owes an answer. */
  get isAnswerDue(): boolean {
    return this.#due > 0 || this.#isFlushDue
  }

  /** The driver takes `false` for a connection that it must not use, also one where a transaction has begun. */
  write(bytes: Buffer): true {
    if (this.#failure) setImmediate(() => this.#report())
    else {
      if (!this.#isStarting) this.#countAsked(bytes)
      this.#socket.write(bytes)
    }
    return true
  }

  end(bytes: Buffer): void {
    this.#isEnded = true
    this.#socket.end(bytes)
  }

  destroy(): void {
    this.fail(new ConnectionError('CONNECT_TIMEOUT'))
  }

  /** Fails, and stops the system from sending written bytes. */
  fail(error: Error): void {
    if (this.#failure) return
    this.#failure = error
    this.#raw.resetAndDestroy()
    this.onLost(error)
    this.#report()
  }

  #report(): void {
    const isStandby = this.#failure instanceof Standby
    if (!isStandby && this.listenerCount('error') > 0) this.emit('error', this.#failure)
    if (!this.isKept) this.emit('close', true)
  }

  #close(): void {
    if (this.#isEnded) this.emit('close', false)
    else this.fail(new ConnectionError('CONNECTION_CLOSED'))
  }

  #receive(bytes: Buffer): void {
    if (this.#failure) return
    this.hasReceived = true
    try {
      this.#scan(bytes)
    } catch (error) {
      this.fail(error as Error)
      return
    }
    this.emit('data', bytes)
  }

  /** Reads the head of each message, and while the connection starts its body. */
  #scan(chunk: Buffer): void {
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    let at = this.#skip
    while (at + 5 <= bytes.length) {
      const type = bytes[at] ?? 0
      const end = at + 1 + this.#lengthOf(type, bytes.readUInt32BE(at + 1))
      if (!this.#isStarting) this.#countAnswered(type)
      else if (end > bytes.length) break
      else this.#start(type, bytes.subarray(at + 5, end))
      at = end
    }
    this.#held = bytes.subarray(at)
    this.#skip = Math.max(0, at - bytes.length)
  }

  #lengthOf(type: number, length: number): number {
    if (this.#isStarting && !START_TYPES.has(type)) throw buildForeignError()
    if (this.#isStarting) this.#startBytes += length
    if (length < 4 || length > MAX_MESSAGE_BYTES || this.#startBytes > MAX_START_BYTES)
      throw new ConnectionError('CONNECTION_MESSAGE_TOO_LONG')
    return length
  }

  #start(type: number, body: Buffer): void {
    if (type === AUTHENTICATION) this.#authenticate(body)
    if (this.#expects.onStandby && body.toString('latin1') === 'in_hot_standby\0on\0') {
      this.#expects.onStandby()
      throw new Standby()
    }
    if (type !== READY) return
    if (this.#step !== 0) throw buildUnprovenError()
    this.#isStarting = false
    this.#startBytes = 0
  }

  #authenticate(body: Buffer): void {
    const step = body.readUInt32BE(0)
    if (!FOLLOWING[this.#step]?.includes(step)) throw buildUnprovenError()
    if (step === CLEAR_TEXT && !this.#expects.mayAskInClear)
      throw new ConnectionError('CONNECTION_CLEAR_PASSWORD')
    if (step === SCRAM_CHALLENGE && !ITERATIONS.test(body.toString('latin1', 4)))
      throw buildUnprovenError()
    this.#step = step
  }

  #countAsked(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) {
      if (bytes[at] === SYNC || bytes[at] === QUERY) this.#due += 1
      if (bytes[at] === FLUSH) this.#isFlushDue = true
    }
  }

  #countAnswered(type: number): void {
    if (type === READY) this.#due -= 1
    else if (type === AUTHENTICATION) throw buildUnprovenError()
    else if (this.#isFlushDue && ANSWERS_FLUSH.has(type)) this.#isFlushDue = false
  }
}

class Standby extends Error {}

function buildUnprovenError(): ConnectionError {
  return new ConnectionError('CONNECTION_UNPROVEN')
}
