/** A client of the driver with one connection, which is lent to one statement or transaction at a time and never replaced. */
import postgres from 'postgres'
import type { RepeatedStatements } from './repeated_statements.ts'
import { handlerOf, type Routed } from './routed.ts'
import { ConnectionError, type ServerSocket } from './server_socket.ts'

export type ServerOptions = postgres.Options<Record<string, postgres.PostgresType>> & {
  socket: () => Promise<ServerSocket>
  backoff: (failures: number) => number
}

/** Each connection is replaced after this time, and up to twice as much. */
const LIFE_MS = 30 * 60_000

export class Lane {
  readonly client: postgres.Sql
  readonly socket: ServerSocket
  readonly pid: number
  readonly repeated: RepeatedStatements
  readonly run: (query: Routed) => void
  /** Ticks without received data, and those with a pending response. */
  quietTicks = 0
  silentTicks = 0
  onLost: (error: Error) => void = () => {}
  readonly #openedAt = performance.now()
  readonly #endsAt = this.#openedAt + LIFE_MS * (1 + Math.random())

  private constructor(
    client: postgres.Sql,
    socket: ServerSocket,
    pid: number,
    repeated: RepeatedStatements,
  ) {
    this.client = client
    this.socket = socket
    this.pid = pid
    this.repeated = repeated
    this.run = handlerOf(client)
  }

  static async open(options: ServerOptions, repeated: RepeatedStatements): Promise<Lane> {
    const opened: { socket?: ServerSocket } = {}
    const socket = async () => (opened.socket = await options.socket())
    // Options that the driver has parsed: drizzle changes how it reads values.
    const client = postgres({ ...options, max: 1, socket } as ServerOptions)
    try {
      const { state } = await client.unsafe('select')
      if (!opened.socket) throw new ConnectionError('CONNECTION_CLOSED')
      opened.socket.isKept = true
      return new Lane(client, opened.socket, state.pid, repeated)
    } catch (error) {
      opened.socket?.fail(error as Error)
      throw error
    }
  }

  get ageMs(): number {
    return performance.now() - this.#openedAt
  }

  get isOld(): boolean {
    return performance.now() > this.#endsAt
  }

  /** Expects an answer, for a statement that has used up some of its ticks. */
  expect(usedTicks: number): void {
    this.socket.hasReceived = false
    this.silentTicks = usedTicks
  }

  tick(): void {
    const { hasReceived, isAnswerDue } = this.socket
    this.quietTicks = hasReceived ? 0 : this.quietTicks + 1
    this.silentTicks = hasReceived || !isAnswerDue ? 0 : this.silentTicks + 1
    this.socket.hasReceived = false
  }
}
