/** The chains of signed workspaces, read by a session and held against what this machine has seen. */
import { type Api, ApiError } from '../../client/api.ts'
import { Chains, type KnownChains, UntrustedChain } from '../../client/signed/chain.ts'
import type { OpenWorkspace } from '../../client/vault.ts'
import { type KnownKey, knownKeyOf, UntrustedKey } from '../../client/workspace_key.ts'
import { listLinks } from '../../features/links/contract.ts'
import { fromBase64, fromBase64Url } from '../../platform/crypto/encoding.ts'
import { fingerprint } from '../../platform/crypto/fingerprint.ts'
import { isSignedId } from '../../sigchain/index.ts'
import type { Output } from '../terminal/output.ts'
import type { KnownWorkspaceKeys } from './known_workspace_keys.ts'

export function openChains(api: Api, known: KnownChains, warn: Warn): Chains {
  const readLinks = (workspaceId: string, after: number) =>
    api.call(listLinks, { params: { workspace_id: workspaceId }, query: { after } })
  return new Chains(readLinks, known, {
    met: ({ name }, first) =>
      warn(
        `${name} is new to this machine. Its fingerprint: ${hashInGroups(first)}`,
        'Compare it with another member, or your other machine: cloakroom workspace fingerprint',
      ),
    rekeyed: ({ name }, epoch) => warn(`the key of ${name} is a new one, of epoch ${epoch}`),
  })
}

/** The hash of a first link, for two people to compare. */
export function hashInGroups(hash: string): string {
  return (fromBase64Url(hash)?.toHex().match(/.{4}/g) ?? []).join(' ')
}

/** What a session knows of the workspaces of its account. */
export type Trust = { chains: Chains; workspaceKeys: KnownWorkspaceKeys; warn: Warn }
type Warn = Output['warn']

/** What speaks against the key of a workspace: one that is refused does not keep another from being used. */
export async function faultOf(
  shown: OpenWorkspace,
  { chains, workspaceKeys, warn }: Trust,
  isBesideSigned: boolean,
): Promise<UntrustedKey | null> {
  if (!isSignedId(shown.id)) {
    if (isBesideSigned && !workspaceKeys.of(shown.id)) await sayPlain(shown, warn)
    return workspaceKeys.check(shown)
  }
  try {
    await chains.requireKey(shown)
    return null
  } catch (error) {
    if (error instanceof UntrustedKey) return error
    if (!(error instanceof ApiError)) throw error
    return new UntrustedChain(shown, `its links cannot be read (${error.message})`, error)
  }
}

/** Who writes the database may have made it, with a key of their own. */
async function sayPlain(shown: OpenWorkspace, warn: Warn): Promise<void> {
  const { name } = shown
  warn(
    `${name} is new to this machine, and not signed, unlike others of yours. The fingerprint of its key: ${await keyFingerprint(knownKeyOf(shown))}`,
    `Compare it with another member: cloakroom workspace accept-key ${name}`,
  )
}

/** For two members of a plain workspace to compare. */
export function keyFingerprint({ commitment }: KnownKey): Promise<string> {
  return fingerprint(fromBase64(commitment) ?? new Uint8Array())
}
