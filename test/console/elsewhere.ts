/** A person on another machine than the browser: what they do there, the page hears of from the server. */
import { type KnownEntry, knownChains } from '../../src/client/signed/known_chains.ts'
import { chainsOf } from '../../src/client/signed/trust.ts'
import { logIn } from '../../src/client/vault.ts'
import { type KnownKey, knownWorkspaceKeys } from '../../src/client/workspace_key.ts'
import { readWorkspaces } from '../../src/client/workspaces.ts'
import { identityOf } from '../../src/sigchain/index.ts'
import { PASSWORD } from './browser.ts'

/** Their personal workspace, opened, with its verified chain. */
export async function elsewhere(server: string, email: string, password = PASSWORD) {
  const { api, seed, privateKey, publicKey } = await logIn(server, email, password)
  if (seed === null) throw new Error('the account cannot sign')
  const chains = chainsOf(api, knownChains(memory<KnownEntry>()), { met() {}, rekeyed() {} })
  const workspaceKeys = knownWorkspaceKeys(memory<KnownKey>(), () => {})
  const trust = { chains, workspaceKeys, metPlain() {} }
  const reader = { api, trust, identity: () => identityOf(seed), privateKey, publicKey }
  const [entry] = await readWorkspaces(reader)
  if (!entry?.open) throw new Error('no workspace opens')
  return { api, workspace: entry.open, chains, reader, email }
}

export function memory<V>() {
  const kept = new Map<string, V>()
  return {
    of: (id: string) => kept.get(id),
    put: (id: string, change: (before: V | undefined) => V | undefined) => {
      const next = change(kept.get(id))
      if (next !== undefined) kept.set(id, next)
    },
  }
}
