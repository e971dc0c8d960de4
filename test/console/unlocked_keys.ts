/** The keys of a person as commands of the worker get them, without a browser. */
import type { NameLists } from '../../src/client/known_names.ts'
import { createKnownChains, type KnownEntry } from '../../src/client/signed/known_chains.ts'
import { chainsOf } from '../../src/client/signed/trust.ts'
import { createKnownWorkspaceKeys, type KnownKey } from '../../src/client/workspace_key.ts'
import type { BrowserMemory } from '../../src/console/web/keys/memory.ts'
import { SeenNames } from '../../src/console/web/keys/names.ts'
import type { UnlockedSession } from '../../src/console/web/keys/unlocked_session.ts'
import type { SignedPerson } from '../support/signed.ts'
import { memory } from './elsewhere.ts'

/** A session of a person as the worker holds it. Names are accepted as they come. */
export function keysOf({ api, identity, userId, email }: SignedPerson): UnlockedSession {
  const { privateKey, public_key } = identity
  const chains = chainsOf(api, createKnownChains(memory<KnownEntry>()), { met() {}, rekeyed() {} })
  const workspaceKeys = createKnownWorkspaceKeys(memory<KnownKey>(), () => {})
  const reader = {
    api,
    trust: { chains, workspaceKeys, onPlainWorkspace() {} },
    identity: async () => identity,
    ...{ userId, email },
    ...{ privateKey, publicKey: Uint8Array.fromBase64(public_key) },
  }
  const names = { ofWorkspaces: <T>(listed: T) => listed, demand() {} }
  return { api, names, reader: () => reader } as unknown as UnlockedSession
}

/** The same keys with names pinned to the IDs that they are first seen with. */
export function pinningNames(keys: UnlockedSession): UnlockedSession {
  const lists = new Map<string, NameLists>()
  const store = {
    of: (id: string) => lists.get(id),
    put: (id: string, change: (before: NameLists | undefined) => NameLists | undefined) => {
      const after = change(lists.get(id))
      if (after) lists.set(id, after)
    },
  }
  const names = new SeenNames(
    { names: store } as unknown as BrowserMemory,
    () => 'user',
    () => {},
  )
  const { api, reader } = keys
  return { api: names.wrap(api), names, reader } as unknown as UnlockedSession
}
