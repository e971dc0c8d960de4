/** The accounts of this machine: selects one for a command, finds its session, and migrates old sessions. */
import type { SealingKey } from '../session/session_seal.ts'
import {
  openSessionStore,
  readSealingKey,
  type SessionStore,
  type StoreOptions,
} from '../session/session_store.ts'
import type { Settings } from '../settings.ts'
import {
  type Choice,
  chooseAccount,
  findNamedAccount,
  type Named,
  nameFor,
  type Wanted,
  withAddresses,
} from './choice.ts'
import { FIRST_SLOT, keepAccount, type Registry, readRegistry } from './registry.ts'

export type Accounts = {
  /** The value of `--account`. */
  flag: string | undefined
  /** Includes the session of a version with a single account. @throws CliError if it cannot be decrypted */
  registry(): Promise<Registry>
  /** The named account, or the owner of the folder. @throws CliError for an unknown name */
  named(): Promise<Named | null>
  /** The account of this command at the selected server. @throws CliError without one */
  chosen(server: string): Promise<Choice>
  /** The store of the session in a slot. */
  store(slot: string): Promise<SessionStore>
  /** The seal of all sessions in files; null without any. @throws CliError */
  sealingKey(): Promise<SealingKey | null>
}

type Options = { wanted: Wanted; store: StoreOptions }

export function openAccounts({ wanted, store: options }: Options): Accounts {
  const { env } = wanted
  const store = (slot: string) => openSessionStore(options, slot)
  const registry = async () => {
    const found = readRegistry(env)
    if (found.isKept) return found
    const stored = await (await store(FIRST_SLOT)).read()
    if (!stored) return found
    const account = { slot: FIRST_SLOT, server: stored.server, email: stored.email }
    keepAccount(env, { ...account, name: nameFor(found, account, undefined) })
    return readRegistry(env)
  }
  return {
    flag: wanted.flag,
    registry,
    store,
    sealingKey: () => readSealingKey(options),
    named: async () => findNamedAccount(await registry(), wanted),
    chosen: async (server) => {
      const known = await registry()
      return chooseAccount(known, findNamedAccount(known, wanted), server)
    },
  }
}

/** The settings with the account's addresses. An unknown account name is an error later. */
export function settingsWith(settings: Settings, wanted: Wanted): Settings {
  const registry = readRegistry(wanted.env)
  try {
    return withAddresses(settings, findNamedAccount(registry, wanted), registry.inUse)
  } catch {
    return settings
  }
}
