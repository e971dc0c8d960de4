/**
 * Notices between processes, and within one. They only save reads and wipe keys early: no decision may depend on their
 * arrival, because a broken connection loses the notices sent meanwhile.
 */
import type postgres from 'postgres'
import { type PendingTimer, systemTimers, type Timers } from '../core/async/timers.ts'
import { describeError, type Log } from '../core/log.ts'
import type { Connection } from './open.ts'

/** Sent by triggers of the migrations; the payload is the id of the workspace that changed. */
export const POLICY_CHANGES = 'cloakroom_policy'

export type Subscriber = {
  onNotice(payload: string): void
  /** Notices may have been missed: drop all state that depends on them. */
  onGap(): void
}

type Listening = Pick<Connection, 'kind' | 'sql' | 'connectBesides'>

export type Bus = {
  subscribe(channel: string, subscriber: Subscriber): void
  /** Call it after the commit of a change that the database's triggers announce. */
  publish(channel: string, payload: string): void
  close(): Promise<void>
}

type Options = { timers: Timers }

/** Milliseconds. A connection that receives nothing is replaced after at most two of these periods. */
const PULSE_MS = 5_000

/** Over PostgreSQL's LISTEN, or within this process for the embedded database, which has no other. */
export function openBus(
  { kind, sql, connectBesides }: Listening,
  log: Log,
  timers = systemTimers,
): Bus {
  return kind === 'embedded'
    ? createLocalBus()
    : createListeningBus({ sql, log, timers, connectBesides })
}

function createLocalBus(): Bus {
  const subscribers = new Map<string, Subscriber[]>()
  return {
    subscribe: (channel, subscriber) => {
      subscribers.set(channel, [...(subscribers.get(channel) ?? []), subscriber])
    },
    publish: (channel, payload) => {
      for (const { onNotice } of subscribers.get(channel) ?? []) onNotice(payload)
    },
    close: async () => {},
  }
}

/**
 * Listens on a connection outside of the pool. The driver usually reconnects when it breaks, but not after a server's
 * end at a bad moment or packet loss, which would leave it silent forever. So a notice without payload is sent
 * regularly, and a listener that does not receive it reconnects.
 */
function createListeningBus(options: Options & Surroundings): Bus {
  let listener: Listener | undefined
  return {
    subscribe: (channel, subscriber) => {
      if (listener) listener.add(channel, subscriber)
      else listener = new Listener(options, { channel, subscriber })
    },
    // Delivers immediately in this process. Other processes receive it through the triggers.
    publish: (channel, payload) => listener?.deliver(channel, payload),
    close: async () => listener?.close(),
  }
}

type Surroundings = Omit<Listening, 'kind'> & { log: Log }
type Subscription = { channel: string; subscriber: Subscriber }

/** One connection for all channels of a process: its name announces the process (announced.ts). */
class Listener {
  readonly #options: Options & Surroundings
  readonly #subscriptions: Subscription[]
  readonly #timer: PendingTimer
  #client: postgres.Sql
  #hasReceived = true
  #isFailing = false
  #pulse: Promise<unknown> | undefined

  constructor(options: Options & Surroundings, first: Subscription) {
    this.#options = options
    this.#subscriptions = [first]
    this.#client = this.#listen()
    this.#timer = options.timers.setRepeating(PULSE_MS, () => this.#check())
  }

  add(channel: string, subscriber: Subscriber): void {
    const subscription = { channel, subscriber }
    this.#subscriptions.push(subscription)
    this.#listenOn(this.#client, subscription)
  }

  deliver(channel: string, payload: string): void {
    for (const { channel: own, subscriber } of this.#subscriptions)
      if (own === channel) subscriber.onNotice(payload)
  }

  async close(): Promise<void> {
    this.#timer.cancel()
    await this.#client.end({ timeout: 0 })
  }

  #listen(): postgres.Sql {
    const client = this.#options.connectBesides()
    for (const subscription of this.#subscriptions) this.#listenOn(client, subscription)
    return client
  }

  #listenOn(client: postgres.Sql, { channel, subscriber }: Subscription): void {
    const deliver = (payload: string) => {
      this.#hasReceived = true
      if (payload !== '') subscriber.onNotice(payload)
    }
    // A confirmed LISTEN proves the connection. It does not receive earlier notices.
    const begin = () => {
      this.#hasReceived = true
      subscriber.onGap()
    }
    client.listen(channel, deliver, begin).catch((error) => this.#complain(error))
  }

  /** Reconnects if the last pulse was not received. */
  #check(): void {
    const { sql } = this.#options
    if (!this.#hasReceived) {
      this.#complain(new Error('no notification arrived'))
      this.#client.end({ timeout: 0 }).catch(() => {})
      this.#client = this.#listen()
    } else this.#isFailing = false
    this.#hasReceived = false
    // Send one pulse at a time: a stalled database must not collect them.
    this.#pulse ??= sql
      .notify(this.#channel, '')
      .catch((error) => this.#complain(error))
      .finally(() => {
        this.#pulse = undefined
      })
  }

  /** The channel of the regular notice. */
  get #channel(): string {
    return this.#subscriptions[0]?.channel ?? ''
  }

  /** Once for each time that it does not work. */
  #complain(error: unknown): void {
    const { log } = this.#options
    const about = { channel: this.#channel, ...describeError(error) }
    if (!this.#isFailing) log.warning('database notifications do not arrive', about)
    this.#isFailing = true
  }
}
