/**
 * Serves the one session of PGlite on a unix socket, so that postgres.js is the only driver.
 *
 * `@electric-sql/pglite-socket` is not used: when PGlite throws, its queue stays marked as busy and every later query
 * hangs; it interleaves the statements of several connections in the one session; it leaves prepared statements and
 * settings of a closed connection to the next one; and it passes on one message at a time. This bridge serves one
 * connection at a time, the others wait until it closes, and all received messages are executed together.
 *
 * Nothing is sent after the database has failed: an answer would be an acknowledgement.
 */

import type { PGlite } from '@electric-sql/pglite'
import type { Socket } from 'bun'
import { Inbox } from './inbox.ts'
import type { DatabaseUpkeep } from './upkeep.ts'

const PROTOCOL_3 = 196_608
const TLS_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
const NOT_SUPPORTED = Buffer.from('N')
/** Messages that clear a connection's half-done extended query, transaction, settings and prepared statements. */
const RESET = Buffer.concat([message('S'), query('ROLLBACK'), query('DISCARD ALL')])

/** ReadyForQuery outside a transaction. */
const IDLE = Buffer.from('Z\0\0\0\x05I', 'latin1')

type Session = {
  inbox: Inbox
  outbox: Uint8Array[]
  /** Present from a client's request for a session until it gets one. */
  startup: Buffer | null
  stage: 'greeting' | 'waiting' | 'served' | 'left'
}

type Client = Socket<Session>

/** The database's health, as the bridge uses it. */
export type Health = { isTrusted(): boolean; fail(reason: string): void }

/**
 * @param path of the socket; its directory must be private, since there is no password.
 * @returns a function that stops serving.
 */
export function serveBridge(
  database: PGlite,
  path: string,
  health: Health,
  upkeep: DatabaseUpkeep,
): () => void {
  const turns = new Scheduler(database, health, upkeep)
  const listener = Bun.listen<Session>({
    unix: path,
    socket: {
      open(client) {
        client.data = { inbox: new Inbox(), outbox: [], startup: null, stage: 'greeting' }
      },
      data(client, chunk) {
        client.data.inbox.append(chunk)
        runGuarded(client, () => turns.receive(client))
      },
      drain: flush,
      close: (client) => turns.leave(client),
      error: (client) => turns.leave(client),
    },
  })
  return () => listener.stop(true)
}

/** A client that does not speak the protocol is disconnected; the others do not notice. */
function runGuarded(client: Client, act: () => void): void {
  try {
    act()
  } catch {
    client.terminate()
  }
}

/** The clients that want the session, in the order of their arrival; the first one has it. */
class Scheduler {
  readonly #queue: Client[] = []
  readonly #database: PGlite
  readonly #health: Health
  readonly #upkeep: DatabaseUpkeep
  #working = false
  #idle = true

  constructor(database: PGlite, health: Health, upkeep: DatabaseUpkeep) {
    this.#database = database
    this.#health = health
    this.#upkeep = upkeep
  }

  receive(client: Client): void {
    if (client.data.stage === 'greeting') this.#handshake(client)
    this.#advance()
  }

  /** Also called from within `end`, before the client's session is cleaned up. */
  leave(client: Client): void {
    const { stage } = client.data
    client.data.stage = 'left'
    if (stage === 'waiting') this.#forget(client)
    if (stage === 'served') this.#advance()
  }

  #handshake(client: Client): void {
    for (let packet = client.data.inbox.takeStartup(); packet; ) {
      const code = packet.readInt32BE(4)
      if (code === PROTOCOL_3) {
        client.data.startup = packet
        client.data.stage = 'waiting'
        this.#queue.push(client)
        return
      }
      // A cancel request only closes the connection: PGlite cannot be interrupted.
      if (code !== TLS_REQUEST && code !== GSS_REQUEST) throw new Error('unknown protocol')
      send(client, [NOT_SUPPORTED])
      packet = client.data.inbox.takeStartup()
    }
  }

  #forget(client: Client): void {
    const position = this.#queue.indexOf(client)
    if (position >= 0) this.#queue.splice(position, 1)
  }

  #advance(): void {
    if (this.#working) return
    this.#working = true
    this.#work()
      .catch((error: unknown) => this.#health.fail(describe(error)))
      .finally(() => {
        this.#working = false
      })
  }

  async #work(): Promise<void> {
    for (let client = this.#queue[0]; client; client = this.#queue[0]) {
      if (!this.#health.isTrusted()) return
      if (client.data.stage === 'left') await this.#reset(client)
      else if (client.data.startup) await this.#begin(client, client.data.startup)
      else if (!(await this.#serve(client))) return
    }
  }

  async #reset(client: Client): Promise<void> {
    this.#forget(client)
    await this.#execute(RESET)
    this.#upkeep.beginSession()
  }

  async #begin(client: Client, startup: Buffer): Promise<void> {
    client.data.startup = null
    client.data.stage = 'served'
    send(client, await this.#execute(startup))
  }

  /** @returns whether there was something to do. */
  async #serve(client: Client): Promise<boolean> {
    const messages = takeMessages(client)
    if (messages === null) return false
    if (messages === 'terminate') {
      client.data.stage = 'left'
      client.end()
      return true
    }
    if (this.#idle) await this.#upkeep.attend((statement) => this.#execute(query(statement)))
    send(client, await this.#execute(messages))
    return true
  }

  async #execute(messages: Buffer): Promise<Uint8Array[]> {
    const answer: Uint8Array[] = []
    await this.#database.execProtocolRawStream(messages, {
      syncToFs: false,
      // A piece lies in PostgreSQL's memory, which is overwritten with the next one.
      onRawData: (piece) => answer.push(piece.slice()),
    })
    this.#idle = endsIdle(answer)
    return this.#health.isTrusted() ? answer : []
  }
}

/** PostgreSQL may flush in the middle of a message: then it only looks busy, once. */
function endsIdle(answer: Uint8Array[]): boolean {
  const end = answer.at(-1)?.subarray(-IDLE.length)
  return end !== undefined && IDLE.equals(end)
}

function takeMessages(client: Client): Buffer | 'terminate' | null {
  try {
    return client.data.inbox.takeMessages()
  } catch {
    return 'terminate'
  }
}

function send(client: Client, pieces: Uint8Array[]): void {
  if (client.data.stage === 'left') return
  client.data.outbox.push(...pieces)
  flush(client)
}

/** Writes as much as the socket takes; `drain` calls again for the rest. */
function flush(client: Client): void {
  const { outbox } = client.data
  let done = 0
  for (const piece of outbox) {
    const written = client.write(piece)
    if (written < piece.length) {
      outbox[done] = piece.subarray(Math.max(written, 0))
      break
    }
    done += 1
  }
  outbox.splice(0, done)
}

/** Emscripten throws plain objects that only look like errors. */
function describe(error: unknown): string {
  const isObject = typeof error === 'object' && error !== null
  return `PGlite threw: ${isObject && 'message' in error ? error.message : error}`
}

function message(type: string, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 0, 'latin1')
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

function query(statement: string): Buffer {
  return message('Q', Buffer.from(`${statement}\0`))
}
