/**
 * Rechecks open streams, gRPC calls and WebSockets of the local backend. While some are open, the vault is read as
 * often as for new calls. They end when new calls would be refused.
 */

import { type PendingTimer, systemTimers, type Timers } from '../../core/async/timers.ts'
import type { Fault } from '../../core/fault.ts'
import { type Basis, judgeAgain } from '../../outbound/policy/judge_again.ts'
import { recordFault } from '../record.ts'
import { type PermittedPlace, permissionOf } from './permission.ts'
import type { VaultCache, VaultSnapshot } from './vault_snapshot.ts'

type OpenCall = {
  basis: Basis
  end(fault: Fault): void
  judgedBy: VaultSnapshot | null
}

type Services = { vault: Pick<VaultCache, 'current'>; place: PermittedPlace }

/** Milliseconds between two checks, which are free while the vault's snapshot is fresh. */
const JUDGE_MS = 1_000

export class LocalLiveCalls {
  readonly #services: Services
  readonly #timers: Timers
  readonly #calls = new Set<OpenCall>()
  #timer: PendingTimer | null = null

  constructor(services: Services, timers = systemTimers) {
    this.#services = services
    this.#timers = timers
  }

  /** Tracks a call until the returned function is called. `end` is called once, with the reason to end it. */
  hold(basis: Basis, end: (fault: Fault) => void): () => void {
    const call: OpenCall = { basis, end, judgedBy: null }
    this.#calls.add(call)
    this.#wait()
    return () => void this.#calls.delete(call)
  }

  close(): void {
    this.#calls.clear()
    this.#timer?.cancel()
  }

  #wait(): void {
    if (this.#timer !== null || this.#calls.size === 0) return
    const judge = async () => {
      await this.#judgeAll()
      this.#timer = null
      this.#wait()
    }
    this.#timer = this.#timers.setTimer(JUDGE_MS, judge, { isBackground: true })
  }

  async #judgeAll(): Promise<void> {
    try {
      const snapshot = await this.#services.vault.current()
      const permission = permissionOf(this.#services.place, Promise.resolve(snapshot))
      for (const call of this.#calls) {
        if (call.judgedBy === snapshot) continue
        call.judgedBy = snapshot
        await judgeAgain(permission, call.basis).catch((error) => this.#end(call, error))
      }
    } catch (error) {
      // Without the vault, all calls are refused.
      for (const call of this.#calls) this.#end(call, error)
    }
  }

  #end(call: OpenCall, error: unknown): void {
    this.#calls.delete(call)
    call.end(recordFault(error))
  }
}
