/** What the worker holds, and for how long. */
import type { AccountKeys } from '../../../client/account/account_keys.ts'
import { type Api, openApi } from '../../../client/api.ts'
import { Refused } from './failure.ts'
import type { AccountState } from './messages.ts'

export type Account = AccountKeys & { email: string; userId: string }

export type Held = {
  /** Calls of this session. */
  api: Api
  /** Who works here, with their keys. @throws Refused `locked` */
  account(): Account
  /** In the place of what was held; the page is told. */
  open(account: Account, access: string): void
  /** Forgets the keys; the session goes on. */
  lock(): void
  /** Forgets all of it. */
  clear(): void
  state(): AccountState
  /** Somebody works: the time until it locks begins anew. */
  stir(): void
}

/** Minutes without a command until it locks. */
const IDLE_MINUTES = 15

export async function openHeld(changed: (state: AccountState) => void): Promise<Held> {
  let account: Account | null = null
  let session: { email: string; access: string } | null = null
  let idle: ReturnType<typeof setTimeout> | undefined
  const state = (): AccountState => {
    if (account) return { kind: 'open', email: account.email, userId: account.userId }
    return session ? { kind: 'locked', email: session.email } : { kind: 'out' }
  }
  const forget = () => {
    account?.privateKey.fill(0)
    account?.seed?.fill(0)
    account = null
  }
  const lock = () => {
    forget()
    changed(state())
  }
  const held: Held = {
    api: openApi(location.origin, () => session?.access ?? null),
    account: () => {
      if (account) return account
      throw new Refused('locked')
    },
    open: (next, access) => {
      forget()
      account = next
      session = { email: next.email, access }
      changed(state())
      held.stir()
    },
    lock,
    clear: () => {
      session = null
      lock()
    },
    state,
    stir: () => {
      clearTimeout(idle)
      if (account) idle = setTimeout(lock, IDLE_MINUTES * 60_000)
    },
  }
  changed(state())
  return held
}
