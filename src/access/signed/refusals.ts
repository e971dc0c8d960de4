/**
 * Remembers stored state that the members of a workspace did not sign, counts it, and logs it. A refusal is remembered
 * for a moment, so that repeated requests cost others nothing. A repair takes effect after that moment.
 */
import type { Clock } from '../../core/clock.ts'
import { Fault } from '../../core/fault.ts'
import type { Log } from '../../core/log.ts'
import { LruMap } from '../../core/lru.ts'
import { Refusal } from '../../sigchain/index.ts'
import { buildUnverifiedFault } from './chains.ts'

/** Milliseconds for which a refusal is remembered, and milliseconds between two log lines about one workspace. */
const RECENT_MS = 5_000
const LOGGED_MS = 60_000
const MAX_KEPT = 10_000

export class Refusals {
  readonly #log: Log
  readonly #recent: LruMap<string, Fault>
  readonly #logged: LruMap<string, true>
  /** Faults that were already reported, also a fault of the chain that a token was verified against. */
  readonly #found = new WeakSet<Fault>()
  #count = 0

  constructor({ log, clock }: { log: Log; clock: Clock }) {
    this.#log = log
    this.#recent = new LruMap({ max: MAX_KEPT, expiry: { ms: RECENT_MS, clock } })
    this.#logged = new LruMap({ max: MAX_KEPT, expiry: { ms: LOGGED_MS, clock } })
  }

  /** The number of failed verifications. */
  get count(): number {
    return this.#count
  }

  findRecent(workspaceId: string, subject: string): Fault | undefined {
    return this.#recent.get(`${workspaceId}/${subject}`)
  }

  /**
   * Verifies, unless an equal state was refused recently.
   *
   * @throws Fault `unverified_state` for a Refusal, and the other errors of `verify`
   */
  async unlessRefused<T>(
    workspaceId: string,
    subject: string,
    verify: () => Promise<T>,
  ): Promise<T> {
    const recent = this.findRecent(workspaceId, subject)
    if (recent) throw recent
    try {
      return await verify()
    } catch (error) {
      const fault = this.#faultFor(workspaceId, error)
      if (fault === null) throw error
      this.#recent.set(`${workspaceId}/${subject}`, fault)
      throw fault
    }
  }

  /** Null for an error of another kind. */
  #faultFor(workspaceId: string, error: unknown): Fault | null {
    if (error instanceof Fault && this.#found.has(error)) return error
    const isOfChain = error instanceof Fault && error.code === 'unverified_state'
    const refusal = isOfChain ? error.cause : error
    if (!(refusal instanceof Refusal)) return null
    const fault = new Fault('unverified_state', {
      message: `${buildUnverifiedFault(refusal).message} ${ADVICE}`,
      cause: refusal,
    })
    this.#found.add(fault)
    this.#count += 1
    if (!this.#logged.get(workspaceId)) {
      this.#logged.set(workspaceId, true)
      this.#log.error(LINE, { workspace_id: workspaceId, why: refusal.message })
    }
    return fault
  }
}

const ADVICE = 'Nothing was sent. A member can find the cause with `cloakroom workspace verify`.'
const LINE = 'the stored data of a signed workspace does not match its signatures: nothing is sent'
