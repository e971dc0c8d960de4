/** The chains of signed workspaces, read by a session and held against what this machine has seen. */
import { type Api, ApiError } from '../../client/api.ts'
import { Chains, type KnownChains, UntrustedChain } from '../../client/signed/chain.ts'
import type { OpenWorkspace } from '../../client/vault.ts'
import { UntrustedKey } from '../../client/workspace_key.ts'
import { listLinks } from '../../features/links/contract.ts'
import { fromBase64Url } from '../../platform/crypto/encoding.ts'
import { isSignedId } from '../../sigchain/index.ts'
import type { KnownSigned } from './known_chains.ts'
import type { KnownWorkspaceKeys } from './known_workspace_keys.ts'

export function openChains(api: Api, known: KnownChains, warn: (text: string) => void): Chains {
  const readLinks = (workspaceId: string, after: number) =>
    api.call(listLinks, { params: { workspace_id: workspaceId }, query: { after } })
  return new Chains(readLinks, known, {
    met: ({ name }, first) =>
      warn(
        `${name} is new to this machine. Its fingerprint: ${hashInGroups(first)}\nCompare it with another member, or your other machine: cloakroom workspace fingerprint`,
      ),
    rekeyed: ({ name }, epoch) => warn(`the key of ${name} is a new one, of epoch ${epoch}`),
  })
}

/** The hash of a first link, for two people to compare. */
export function hashInGroups(hash: string): string {
  return (fromBase64Url(hash)?.toHex().match(/.{4}/g) ?? []).join(' ')
}

/** What a session knows of the workspaces of its account. */
export type Trust = { chains: Chains; signed: KnownSigned; workspaceKeys: KnownWorkspaceKeys }

/** What speaks against the key of a workspace: one that is refused does not keep another from being used. */
export async function faultOf(shown: OpenWorkspace, trust: Trust): Promise<UntrustedKey | null> {
  const { chains, signed } = trust
  if (!isSignedId(shown.id)) return faultOfPlain(shown, trust)
  try {
    await chains.requireKey(shown)
    signed.name(shown.id, shown.name)
    return null
  } catch (error) {
    if (error instanceof UntrustedKey) return error
    if (!(error instanceof ApiError)) throw error
    return new UntrustedChain(shown, `its links cannot be read (${error.message})`, error)
  }
}

/**
 * One that is new under the name of a signed one, by being made or renamed, would be used in its place, with a key
 * of anybody's.
 */
function faultOfPlain(shown: OpenWorkspace, { signed, workspaceKeys }: Trust): UntrustedKey | null {
  const { id, name } = shown
  const isOther = signed.isName(name) && workspaceKeys.of(id)?.name !== name
  if (!isOther) return workspaceKeys.check(shown)
  return new UntrustedKey(
    `a workspace called ${name} was signed when it was seen before, and this one is not`,
  )
}
