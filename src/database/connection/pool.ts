/**
 * A pool of connections to a PostgreSQL server. Each connection is a client of the driver, lent to one statement or
 * one transaction at a time, and dropped when its connection is lost: nothing can run on a later connection instead.
 *
 * A pool that serves requests counts the ticks of one timer while an answer is due, so a process that stood still loses
 * no connection. It resets a silent connection, unless PostgreSQL reports that it works for it (./silence.ts).
 */
import postgres from 'postgres'
import { Lane, type ServerOptions } from './lane.ts'
import { RepeatedStatements } from './repeated_statements.ts'
import { createRoutedClient, type Routed } from './routed.ts'
import { ConnectionError } from './server_socket.ts'
import { workingOf } from './silence.ts'
import { transact } from './transaction.ts'

type Settings = {
  size: number
  /** Closes silent connections. */
  isServing: boolean
  tickMs?: number
  /** Returns the server processes that are executing a statement. */
  working?: (pids: number[]) => Promise<Set<number>>
}
type Waiting = {
  asked: number
  since: number
  resolve(lane: Lane): void
  reject(error: unknown): void
}

/** A request is answered within ten seconds, of which a statement may wait these ticks for its answer. */
const TICK_MS = 250
const SILENT_TICKS = 26
/** Ticks after which idle connections must answer before use, and after which PostgreSQL is asked about statements. */
const DOUBTFUL_TICKS = 5
const ASK_TICKS = 13
/** Ticks a statement waits for a connection, and how many of them do not shorten its wait for an answer. */
const WAITING_TICKS = 24
const FREE_TICKS = 10
/** A connection that failed sooner delays the next one. */
const SHORT_LIFE_MS = 1_000
/** Milliseconds that a statement of a request waits for a lock. */
const LOCK_WAIT_MS = 5_000
/** Ends the transaction of a client that disappeared, and waits for another session's lock. */
const LIMITS = `; set local idle_in_transaction_session_timeout = '30s'; set local lock_timeout = '${LOCK_WAIT_MS}ms'`

export function openPool(options: ServerOptions, settings: Settings): postgres.Sql {
  // Builds statements, and never connects.
  const builder = postgres({ ...options, max: 1 })
  const pool = new Pool(builder.options as unknown as ServerOptions, options, settings)
  return createRoutedClient(builder, {
    route: (query) => void pool.run(query),
    repeated: pool.repeated,
    begin: (...args: unknown[]) => pool.begin(args),
    end: ({ timeout = 0 }: { timeout?: number } = {}) => pool.end(timeout),
  })
}

class Pool {
  readonly repeated = new RepeatedStatements()
  readonly #driver: ServerOptions
  readonly #options: ServerOptions
  readonly #settings: Settings
  readonly #lanes = new Set<Lane>()
  readonly #timer: Timer | undefined
  #idle: Lane[] = []
  #waiting: Waiting[] = []
  #opening = 0
  #ticks = 0
  #failures = 0
  #openAt = 0
  #isAsking = false
  #isEnded = false

  constructor(driver: ServerOptions, options: ServerOptions, settings: Settings) {
    this.#driver = driver
    this.#options = options
    this.#settings = settings
    if (!settings.isServing) return
    this.#timer = setInterval(() => this.#tick(), settings.tickMs ?? TICK_MS)
    this.#timer.unref()
  }

  async run(query: Routed): Promise<void> {
    try {
      const lane = await this.#take()
      const give = () => this.#give(lane)
      query.then(give, give)
      lane.run(query)
    } catch (error) {
      query.reject(error)
    }
  }

  async begin(args: unknown[]): Promise<unknown> {
    const work = args.at(-1) as (tx: postgres.TransactionSql) => unknown
    const [mode] = args.length > 1 ? args : ['']
    const limits = this.#settings.isServing && mode === '' ? LIMITS : ''
    const lane = await this.#take()
    try {
      return await transact(lane, `begin ${mode}${limits}`, work)
    } finally {
      this.#give(lane)
    }
  }

  /** Closes the pool. Transactions that still run after `timeout` seconds are ended. */
  async end(timeout: number): Promise<void> {
    this.#isEnded = true
    clearInterval(this.#timer)
    for (const { reject } of this.#waiting.splice(0)) reject(buildEndedError())
    const closing = this.#idle.splice(0).map((lane) => this.#close(lane))
    const until = performance.now() + timeout * 1000
    while (this.#lanes.size > 0 && performance.now() < until) await Bun.sleep(10)
    for (const lane of this.#lanes) lane.socket.fail(new ConnectionError('CONNECTION_DESTROYED'))
    await Promise.all(closing)
  }

  async #take(): Promise<Lane> {
    if (this.#isEnded) throw buildEndedError()
    const asked = this.#ticks
    // The one used last has its statements prepared, and its process awake.
    const lane = this.#idle.pop() ?? (await this.#wait(asked))
    lane.expect(Math.max(0, this.#ticks - asked - FREE_TICKS))
    return lane
  }

  #wait(asked: number): Promise<Lane> {
    const { promise, resolve, reject } = Promise.withResolvers<Lane>()
    this.#waiting.push({ asked, since: performance.now(), resolve, reject })
    this.#openMissing()
    return promise
  }

  #give(lane: Lane): void {
    lane.onLost = () => {}
    if (!this.#lanes.has(lane)) return
    if (this.#isEnded || lane.isOld) {
      void this.#close(lane)
      this.#openMissing()
    } else {
      const next = this.#waiting.shift()
      if (next) next.resolve(lane)
      else this.#idle.push(lane)
    }
  }

  #openMissing(): void {
    const isMissing = () => this.#opening < this.#waiting.length
    while (isMissing() && this.#lanes.size + this.#opening < this.#settings.size) void this.#open()
  }

  async #open(): Promise<void> {
    this.#opening += 1
    const since = performance.now()
    try {
      await Bun.sleep(Math.max(0, this.#openAt - performance.now()))
      const lane = await Lane.open(this.#driver, this.repeated)
      this.#lanes.add(lane)
      lane.socket.onLost = (error) => this.#lose(lane, error)
      this.#give(lane)
    } catch (error) {
      this.#postpone()
      // A later request may find the server available.
      const [first] = this.#waiting
      if (first && first.since <= since) this.#waiting.shift()?.reject(error)
    }
    this.#opening -= 1
    this.#openMissing()
  }

  #lose(lane: Lane, error: Error): void {
    this.#lanes.delete(lane)
    this.#idle = this.#idle.filter((each) => each !== lane)
    if (lane.ageMs > SHORT_LIFE_MS) this.#failures = 0
    else this.#postpone()
    lane.onLost(error)
    this.#openMissing()
  }

  #postpone(): void {
    this.#failures += 1
    this.#openAt = performance.now() + this.#options.backoff(this.#failures) * 1000
  }

  async #close(lane: Lane): Promise<void> {
    this.#lanes.delete(lane)
    await lane.client.end({ timeout: 1 })
  }

  #tick(): void {
    this.#ticks += 1
    for (const lane of this.#lanes) lane.tick()
    const lanes = [...this.#lanes]
    for (const lane of lanes) {
      if (lane.silentTicks >= SILENT_TICKS)
        lane.socket.fail(new ConnectionError('CONNECTION_SILENT'))
    }
    if (lanes.some(({ silentTicks }) => silentTicks >= DOUBTFUL_TICKS)) this.#checkIdle()
    const isLate = ({ asked }: Waiting) => this.#ticks - asked >= WAITING_TICKS
    for (const { reject } of this.#waiting.filter(isLate))
      reject(new ConnectionError('CONNECT_TIMEOUT'))
    this.#waiting = this.#waiting.filter((each) => !isLate(each))
    void this.#ask(lanes.filter(({ silentTicks }) => silentTicks >= ASK_TICKS))
  }

  /** An idle connection may be as dead as the silent one. */
  #checkIdle(): void {
    const isQuiet = ({ quietTicks }: Lane) => quietTicks >= DOUBTFUL_TICKS
    const quiet = this.#idle.filter(isQuiet)
    this.#idle = this.#idle.filter((lane) => !isQuiet(lane))
    for (const lane of quiet) {
      const give = () => this.#give(lane)
      lane.client.unsafe('select').then(give, give)
    }
  }

  async #ask(doubtful: Lane[]): Promise<void> {
    if (doubtful.length === 0 || this.#isAsking) return
    this.#isAsking = true
    const ask = this.#settings.working ?? ((pids) => workingOf(this.#options, pids))
    const working = await ask(doubtful.map(({ pid }) => pid))
    for (const lane of doubtful) if (working.has(lane.pid)) lane.silentTicks = 0
    this.#isAsking = false
  }
}

function buildEndedError(): ConnectionError {
  return new ConnectionError('CONNECTION_ENDED')
}
