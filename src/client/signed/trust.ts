/** Decides whether to use a workspace key: by its chain if it is signed, and by the known keys. */

import { fromBase64Url } from '../../core/crypto/encoding.ts'
import { listLinks } from '../../features/links/contract.ts'
import { isSignedId } from '../../sigchain/index.ts'
import { type Api, ApiError } from '../http/api.ts'
import { type KnownWorkspaceKeys, UntrustedKey, type WorkspaceKey } from '../workspace_key.ts'
import { type ChainNotices, Chains, type KnownChains, UntrustedChain } from './chain.ts'

/** The chains of a session, read by its calls and compared with the known ones. */
export function chainsOf(api: Api, known: KnownChains, notices: ChainNotices): Chains {
  const readLinks = (workspaceId: string, after: number) =>
    api.call(listLinks, { params: { workspace_id: workspaceId }, query: { after } })
  return new Chains(readLinks, known, notices)
}

/** The hash of a first link, for two people to compare. */
export function hashInGroups(hash: string): string {
  return (fromBase64Url(hash)?.toHex().match(/.{4}/g) ?? []).join(' ')
}

/** A session's verified workspaces. */
export type Trust = {
  chains: Chains
  workspaceKeys: KnownWorkspaceKeys
  /** Called for a new plain workspace if others are signed: someone with database access may have created it. */
  onPlainWorkspace(workspace: WorkspaceKey): void | Promise<void>
}

/** The fault of a workspace key. A rejected key does not prevent the use of other workspaces. */
export async function keyFaultOf(
  shown: WorkspaceKey,
  { chains, workspaceKeys, onPlainWorkspace }: Trust,
  isBesideSigned: boolean,
): Promise<UntrustedKey | null> {
  if (!isSignedId(shown.id)) {
    if (isBesideSigned && !workspaceKeys.of(shown.id)) await onPlainWorkspace(shown)
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
