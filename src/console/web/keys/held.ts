/** What the worker holds, and for how long. Tabs of one browser lock together. */
import type { AccountKeys } from '../../../client/account/account_keys.ts'
import type { Api } from '../../../client/http/api.ts'
import type { WorkspaceReader } from '../../../client/workspaces.ts'
import { deadlineIn, type LockDeadline } from '../deadline.ts'
import { sessionCalls } from '../session.ts'
import { Refused } from './failure.ts'
import { type BrowserMemory, openMemory } from './memory.ts'
import { SeenNames } from './names.ts'
import type { AccountState, LockedBy, WorkspaceNotice } from './reports.ts'
import { openTabs, type Word } from './tabs.ts'
import { identityFor, trustOf } from './trust.ts'

export type SignedIn = { userId: string; email: string }

/** Until it locks, without a sign of a person. */
const IDLE_MS = 15 * 60_000
/** Before it locks, it is said. */
const WARNING_MS = 60_000
/** What a timer can count. */
const LONGEST_MS = 2_147_483_647

type Open = WorkspaceReader & SignedIn & AccountKeys & { until: number | null }

export async function openHeld(
  changed: (state: AccountState) => void,
  notify: (notice: WorkspaceNotice) => void,
): Promise<HeldKeys> {
  return new HeldKeys(await openMemory(), changed, notify)
}

export class HeldKeys {
  /** Calls of this session. */
  readonly api: Api
  readonly memory: BrowserMemory
  /** What names stood for, for who works here. */
  readonly names: SeenNames
  readonly #notify: (notice: WorkspaceNotice) => void
  readonly #changed: (state: AccountState) => void
  readonly #tellTabs: (word: Word) => void
  #person: SignedIn | null = null
  #open: Open | null = null
  #deadline: LockDeadline = deadlineIn(0)
  #isEnding = false
  #isEnded = false
  #lockedBy: LockedBy = null
  #timer: ReturnType<typeof setTimeout> | undefined
  #running = 0
  /** Of what was locked while commands ran. */
  #leftKeys: AccountKeys[] = []

  constructor(
    memory: BrowserMemory,
    changed: (state: AccountState) => void,
    notify: (notice: WorkspaceNotice) => void,
  ) {
    this.memory = memory
    this.#changed = changed
    this.#notify = notify
    this.names = new SeenNames(memory, () => this.#open?.userId ?? null, notify)
    this.#tellTabs = openTabs((word) => this.#hear(word))
    const calls = sessionCalls(() => this.#leave(this.#isEnded || this.#person !== null))
    this.api = this.names.over(calls)
  }

  /** Who works here, with their keys, and what they know of their workspaces. @throws Refused `locked` */
  reader(): WorkspaceReader & SignedIn & AccountKeys {
    this.expire()
    if (this.#open) return this.#open
    throw new Refused('locked')
  }

  /** Keys that a command holds are wiped when it is done: it would go on with zeros, and seal those. */
  async while(command: () => unknown): Promise<unknown> {
    this.#running += 1
    try {
      return await command()
    } finally {
      this.#running -= 1
      this.#wipe()
    }
  }

  /** In the place of what was held; without a time it locks when nobody works for a while. */
  open(person: SignedIn, keys: AccountKeys, until?: number): void {
    this.#forget()
    this.#isEnded = false
    this.#person = person
    const identity = () => identityFor(keys)
    this.names.reset()
    const trust = trustOf(this.api, this.memory, person.userId, this.#notify)
    const { api } = this
    this.#open = { ...person, ...keys, api, trust, identity, until: until ?? null }
    this.#tell({ kind: 'in' })
    this.stayUntil(until ?? null)
  }

  /** Another end of the time; null for when nobody works. */
  stayUntil(until: number | null): void {
    this.#stayUntil(until)
    this.#tell({ kind: 'stays', until })
  }

  /** The session is there, the keys are not. */
  meet(person: SignedIn): void {
    this.#isEnded = false
    this.#become(person)
    this.#tell({ kind: 'in' })
  }

  /** Forgets the keys, in all tabs; the session of the person goes on. */
  lock(by: LockedBy = null): void {
    this.lockOthers(by)
    this.#become(this.#person, by)
  }

  /** Other tabs, which may hold keys of before. */
  lockOthers(by: LockedBy = null): void {
    this.#tell({ kind: 'locked', by })
  }

  /** Forgets all of it, in all tabs. */
  clear(isEnded = this.#isEnded && this.#person === null): void {
    this.#leave(isEnded)
  }

  state(): AccountState {
    if (this.#person === null) return { kind: 'out', isEnded: this.#isEnded }
    const { email } = this.#person
    if (this.#open === null) return { kind: 'locked', email, by: this.#lockedBy }
    const { userId, until } = this.#open
    return { kind: 'open', email, userId, until, isEnding: this.#isEnding }
  }

  /** Somebody works: the time until it locks begins again, in all tabs, if it was not over. */
  stir(): void {
    this.expire()
    if (!this.#open) return
    this.#stirred()
    this.#tell({ kind: 'stirred' })
    if (this.#open.until !== null) void this.memory.touch(this.#open.userId)
  }

  /** Locks if the time is over: a timer does not run while a machine sleeps. */
  expire(): void {
    if (!this.#open || this.#deadline.left() > 0) return
    const { until, userId } = this.#open
    if (until !== null) void this.memory.stay(userId, undefined)
    this.lock(until === null ? 'idle' : 'time')
  }

  #stayUntil(until: number | null): void {
    if (!this.#open) return
    this.#open.until = until
    this.#deadline = deadlineIn(until === null ? IDLE_MS : until - Date.now())
    this.#isEnding = false
    this.#changed(this.state())
    this.#wait()
  }

  #stirred(): void {
    if (this.#open?.until === null) this.#deadline = deadlineIn(IDLE_MS)
    this.#wait()
  }

  #wait(): void {
    clearTimeout(this.#timer)
    this.expire()
    if (!this.#open) return
    const left = this.#deadline.left()
    const isEnding = left <= WARNING_MS
    const next = Math.min(isEnding ? left : left - WARNING_MS, LONGEST_MS)
    this.#timer = setTimeout(() => this.#wait(), next)
    if (isEnding === this.#isEnding) return
    this.#isEnding = isEnding
    this.#changed(this.state())
  }

  #leave(isEnded: boolean): void {
    if (this.#person) void this.memory.stay(this.#person.userId, undefined)
    this.#tell({ kind: 'out', isEnded })
    this.#isEnded = isEnded
    this.#become(null)
  }

  #become(person: SignedIn | null, by: LockedBy = null): void {
    this.#forget()
    this.#person = person
    this.#lockedBy = by
    this.#changed(this.state())
  }

  #forget(): void {
    clearTimeout(this.#timer)
    if (this.#open) this.#leftKeys.push(this.#open)
    this.#open = null
    this.#isEnding = false
    this.#wipe()
  }

  #wipe(): void {
    if (this.#running > 0) return
    for (const { privateKey, seed } of this.#leftKeys.splice(0)) {
      privateKey.fill(0)
      seed?.fill(0)
    }
  }

  #tell(word: DistributiveOmit<Word, 'userId'>): void {
    if (this.#person) this.#tellTabs({ ...word, userId: this.#person.userId })
  }

  #hear(word: Word): void {
    const isOurs = word.userId === this.#person?.userId
    if (word.kind === 'in') {
      // The cookies are those of somebody else now.
      if (this.#person && !isOurs) this.#end(true)
      return
    }
    if (!isOurs) return
    if (word.kind === 'out') this.#end(word.isEnded)
    if (!this.#open) return
    if (word.kind === 'stirred') this.#stirred()
    if (word.kind === 'stays') this.#stayUntil(word.until)
    if (word.kind === 'locked') this.#become(this.#person, word.by ?? 'tab')
  }

  #end(isEnded: boolean): void {
    this.#isEnded = isEnded
    this.#become(null)
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
