/**
 * Counts what a request costs on the wire to PostgreSQL: a proxy on loopback reads the messages of both directions
 * (PostgreSQL documentation, "Message Formats"). While it counts, it holds each answer for a millisecond. Messages
 * that the client sends without waiting for that answer come first, so the number of round trips does not depend on
 * the server's speed.
 */
import { connect, createServer, type Socket } from 'node:net'
import { listening } from './false_postgres.ts'
import { until } from './until.ts'

/**
 * `transaction` counts the statements that only begin, end or set up a transaction; `statements` counts the others.
 * A connection makes a round trip when it waits for an answer. Bytes are of both directions, without notifications,
 * which arrive at any time.
 */
export const COSTS = ['statements', 'transaction', 'round trips', 'rows', 'bytes'] as const
export type WireCost = Record<(typeof COSTS)[number], number>

export type WireMeter = {
  /** The variables that connect an application through the proxy. */
  env: Record<string, string>
  /** The cost of the act until the connections are quiet, with the text of each statement. */
  measure(act: () => Promise<unknown>): Promise<{ cost: WireCost; texts: string[] }>
  stop(): void
}

const HOLD_MS = 1
const QUIET_MS = 6
const IS_TRANSACTION =
  /^\s*(?:begin|start|commit|rollback|savepoint|release|set|select set_config)\b/i

export async function startWireMeter(socketDir: string): Promise<WireMeter> {
  const sockets = new Set<Socket>()
  const tally = new Tally()
  const server = createServer({ noDelay: true }, (client) => {
    const database = connect({ path: `${socketDir}/.s.PGSQL.5432` })
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    relay(client, database, tally)
  })
  const port = await listening(server)
  return {
    env: { DB_HOST: '127.0.0.1', DB_PORT: String(port) },
    measure: async (act) => {
      tally.begin()
      await act()
      await until(() => tally.isQuiet(), { stepMs: 1 })
      return tally.end()
    },
    stop: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

function relay(client: Socket, database: Socket, tally: Tally): void {
  let isWaiting = false
  let bound = ''
  let held: Buffer[] = []
  const prepared = new Map<string, string>()
  const takes: Record<string, (body: Buffer) => void> = {
    Q: (body) => tally.addStatement(wordsOf(body)[0] ?? ''),
    P: (body) => {
      const [name = '', text = ''] = wordsOf(body)
      prepared.set(name, text)
    },
    B: (body) => {
      bound = wordsOf(body)[1] ?? ''
    },
    E: () => tally.addStatement(prepared.get(bound) ?? ''),
  }
  const asked = new MessageReader(false, (type, body) => {
    tally.add('bytes', body.length + 5)
    takes[type]?.(body)
  })
  client.on('data', (chunk: Buffer) => {
    if (!isWaiting) tally.add('round trips', 1)
    isWaiting = true
    asked.push(chunk)
    database.write(chunk)
  })
  const answered = new MessageReader(true, (type, body) => {
    if (type === 'A') return
    tally.add('bytes', body.length + 5)
    if (type === 'D') tally.add('rows', 1)
  })
  const hand = () => {
    if (held.length === 0) return
    isWaiting = false
    tally.touch()
    client.write(Buffer.concat(held))
    held = []
  }
  database.on('data', (chunk: Buffer) => {
    answered.push(chunk)
    held.push(chunk)
    if (tally.isCounting) setTimeout(hand, HOLD_MS)
    else hand()
  })
}

/** The first strings of a message. */
function wordsOf(body: Buffer): string[] {
  return body.toString('utf8').split('\0', 2)
}

/** Cuts one side's bytes into messages. */
class MessageReader {
  #rest: Buffer = Buffer.alloc(0)
  /** A client's first message has no type. */
  #isTyped: boolean
  readonly #take: (type: string, body: Buffer) => void

  constructor(isTyped: boolean, take: (type: string, body: Buffer) => void) {
    this.#isTyped = isTyped
    this.#take = take
  }

  push(chunk: Buffer): void {
    let bytes = Buffer.concat([this.#rest, chunk])
    for (;;) {
      const at = this.#isTyped ? 1 : 0
      if (bytes.length < at + 4) break
      const end = at + bytes.readUInt32BE(at)
      if (bytes.length < end) break
      this.#take(bytes.toString('latin1', 0, at), bytes.subarray(at + 4, end))
      bytes = bytes.subarray(end)
      this.#isTyped = true
    }
    this.#rest = bytes
  }
}

class Tally {
  isCounting = false
  #cost: WireCost = free()
  #texts: string[] = []
  #touchedAt = 0

  begin(): void {
    this.#reset()
    this.isCounting = true
    this.touch()
  }

  end(): { cost: WireCost; texts: string[] } {
    this.isCounting = false
    const counted = { cost: this.#cost, texts: this.#texts }
    this.#reset()
    return counted
  }

  /** Traffic between two measurements is not added to the previous one. */
  #reset(): void {
    this.#cost = free()
    this.#texts = []
  }

  touch(): void {
    this.#touchedAt = performance.now()
  }

  isQuiet(): boolean {
    return performance.now() - this.#touchedAt > QUIET_MS
  }

  addStatement(text: string): void {
    this.#texts.push(text)
    this.#cost[IS_TRANSACTION.test(text) ? 'transaction' : 'statements'] += 1
  }

  add(what: 'round trips' | 'rows' | 'bytes', count: number): void {
    this.#cost[what] += count
    this.touch()
  }
}

function free(): WireCost {
  return { statements: 0, transaction: 0, 'round trips': 0, rows: 0, bytes: 0 }
}
