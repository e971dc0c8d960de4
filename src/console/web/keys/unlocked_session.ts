/** The worker's unlocked session: its keys and its idle timer. All tabs of a browser lock together. */
import type { AccountKeys } from '../../../client/account/account_keys.ts'
import type { Api } from '../../../client/http/api.ts'
import type { WorkspaceReader } from '../../../client/workspaces.ts'
import { deadlineIn, type LockDeadline } from '../deadline.ts'
import { sessionCalls } from '../session.ts'
import { Refused } from './failure.ts'
import { type BrowserMemory, openMemory } from './memory.ts'
import { SeenNames } from './names.ts'
import type { AccountState, LockedBy, WorkspaceNotice } from './reports.ts'
import { openTabs, type TabMessage } from './tabs.ts'
import { identityFor, trustOf } from './trust.ts'

export type SignedIn = { userId: string; email: string }

/** The idle timer. */
const IDLE_MS = 15 * 60_000
/** The page warns for this long before the keys lock. */
const WARNING_MS = 60_000
/** The longest timeout of `setTimeout`. */
const LONGEST_MS = 2_147_483_647

type Open = WorkspaceReader & SignedIn & AccountKeys & { until: number | null }

export async function openUnlockedSession(
  changed: (state: AccountState) => void,
  notify: (notice: WorkspaceNotice) => void,
): Promise<UnlockedSession> {
  return new UnlockedSession(await openMemory(), changed, notify)
}

export class UnlockedSession {
  /** Calls of this session. */
  readonly api: Api
  readonly memory: BrowserMemory
  /** The IDs that this user first saw for each name. */
  readonly names: SeenNames
  readonly #notify: (notice: WorkspaceNotice) => void
  readonly #changed: (state: AccountState) => void
  readonly #postToTabs: (message: TabMessage) => void
  #person: SignedIn | null = null
  #open: Open | null = null
  #deadline: LockDeadline = deadlineIn(0)
  #isEnding = false
  #isEnded = false
  #lockedBy: LockedBy = null
  #timer: ReturnType<typeof setTimeout> | undefined
  #running = 0
  /** Keys that were locked while commands ran. They are wiped when the last command ends. */
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
    this.#postToTabs = openTabs((message) => this.#onTabMessage(message))
    const calls = sessionCalls(() => this.#leave(this.#isEnded || this.#person !== null))
    this.api = this.names.wrap(calls)
  }

  /** The user with their keys and trusted workspaces. @throws Refused `locked` */
  reader(): WorkspaceReader & SignedIn & AccountKeys {
    this.expire()
    if (this.#open) return this.#open
    throw new Refused('locked')
  }

  /** Wipes locked keys only after the command ends. Otherwise the command would seal zeros. */
  async holdKeysDuring(command: () => unknown): Promise<unknown> {
    this.#running += 1
    try {
      return await command()
    } finally {
      this.#running -= 1
      this.#wipe()
    }
  }

  /** Replaces the session. Without `until`, the idle timer locks it. */
  open(person: SignedIn, keys: AccountKeys, until?: number): void {
    this.#forget()
    this.#isEnded = false
    this.#person = person
    const identity = () => identityFor(keys)
    this.names.reset()
    const trust = trustOf(this.api, this.memory, person.userId, this.#notify)
    const { api } = this
    this.#open = { ...person, ...keys, api, trust, identity, until: until ?? null }
    this.#broadcast({ kind: 'in' })
    this.setLockTime(until ?? null)
  }

  /** Sets when the keys lock. Null means the idle timer. */
  setLockTime(until: number | null): void {
    this.#setLockTime(until)
    this.#broadcast({ kind: 'until', until })
  }

  /** Sets the signed-in user, without keys. */
  setUser(person: SignedIn): void {
    this.#isEnded = false
    this.#become(person)
    this.#broadcast({ kind: 'in' })
  }

  /** Forgets the keys in all tabs. The user stays signed in. */
  lock(by: LockedBy = null): void {
    this.lockOthers(by)
    this.#become(this.#person, by)
  }

  /** Locks other tabs, which may hold previous keys. */
  lockOthers(by: LockedBy = null): void {
    this.#broadcast({ kind: 'locked', by })
  }

  /** Forgets the keys and the user in all tabs. */
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

  /** Restarts the idle timer in all tabs, unless the keys have already locked. */
  recordActivity(): void {
    this.expire()
    if (!this.#open) return
    this.#restartIdleTimer()
    this.#broadcast({ kind: 'active' })
    if (this.#open.until !== null) void this.memory.recordActivity(this.#open.userId)
  }

  /** Locks if the time is over. A timer does not run while a machine sleeps. */
  expire(): void {
    if (!this.#open || this.#deadline.left() > 0) return
    const { until, userId } = this.#open
    if (until !== null) void this.memory.setRememberedKey(userId, undefined)
    this.lock(until === null ? 'idle' : 'time')
  }

  #setLockTime(until: number | null): void {
    if (!this.#open) return
    this.#open.until = until
    this.#deadline = deadlineIn(until === null ? IDLE_MS : until - Date.now())
    this.#isEnding = false
    this.#changed(this.state())
    this.#wait()
  }

  #restartIdleTimer(): void {
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
    if (this.#person) void this.memory.setRememberedKey(this.#person.userId, undefined)
    this.#broadcast({ kind: 'out', isEnded })
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

  #broadcast(message: DistributiveOmit<TabMessage, 'userId'>): void {
    if (this.#person) this.#postToTabs({ ...message, userId: this.#person.userId })
  }

  #onTabMessage(message: TabMessage): void {
    const isSameUser = message.userId === this.#person?.userId
    if (message.kind === 'in') {
      // The cookies now belong to another user.
      if (this.#person && !isSameUser) this.#end(true)
      return
    }
    if (!isSameUser) return
    if (message.kind === 'out') this.#end(message.isEnded)
    if (!this.#open) return
    if (message.kind === 'active') this.#restartIdleTimer()
    if (message.kind === 'until') this.#setLockTime(message.until)
    if (message.kind === 'locked') this.#become(this.#person, message.by ?? 'tab')
  }

  #end(isEnded: boolean): void {
    this.#isEnded = isEnded
    this.#become(null)
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
