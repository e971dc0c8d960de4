/**
 * Changes of a signed workspace with a link: prepared on the current chain, checked against the signer's role, and
 * signed again after a concurrent change.
 */
import {
  type Chain,
  type Identity,
  type LinkChange,
  type SignedText,
  signLink,
} from '../../sigchain/index.ts'
import { ApiError } from '../http/api.ts'
import type { Named } from '../known_names.ts'
import { type Chains, UntrustedChain } from './chain.ts'
import { requireRight } from './rights.ts'

/** By its chain this person was a member once. */
export class FormerMember extends Error {
  override readonly name = 'FormerMember'

  constructor({ name }: Named) {
    super(`you are no longer a member of ${name}, or your keys there were replaced`)
  }
}

/** The signer and the workspace. */
export type ChainSigner = { chains: Chains; workspace: Named; identity: () => Promise<Identity> }

/** The content of a link. */
export type LinkText = LinkChange extends infer Each
  ? Each extends LinkChange
    ? Pick<Each, 'type' | 'body'>
    : never
  : never

/** The content to sign on the current chain; null if nothing is left to change. */
export type Judge = (chain: Chain) => LinkText | null | Promise<LinkText | null>
/** The call, with its link and the chain before it, which plain workspaces do not have. */
export type Send<T> = (link: SignedText | undefined, chain: Chain | null) => Promise<T>

const MOST_TRIES = 10

/**
 * Makes a change with a link. After a concurrent change, prepares and signs it again if it is still needed.
 *
 * @throws ApiError, UntrustedChain
 */
export async function signChange<T>(signing: ChainSigner, judge: Judge, send: Send<T>): Promise<T> {
  const { chains, workspace } = signing
  let chain = await chains.of(workspace)
  for (let tries = 1; tries < MOST_TRIES; tries += 1) {
    try {
      return await attempt(signing, chain, judge, send)
    } catch (error) {
      if (!isOvertaken(error)) throw error
      const next = await chains.readNewerLinks(workspace)
      // A conflict with something else than another link.
      if (next.seq === chain.seq) throw error
      chain = next
    }
  }
  return attempt(signing, chain, judge, send)
}

/** Another member signed in the meantime, so the link followed an outdated chain, or seemed unnecessary. */
function isOvertaken(error: unknown): boolean {
  return error instanceof ApiError && ['conflict', 'link_required'].includes(error.code)
}

async function attempt<T>(
  { chains, workspace, identity }: ChainSigner,
  chain: Chain,
  judge: Judge,
  send: Send<T>,
): Promise<T> {
  const said = await judge(chain)
  if (said === null) return send(undefined, chain)
  const { signing_key, signingKey } = await identity()
  const signer = ownId(chain, workspace, signing_key)
  const change = { ...said, signer, at: new Date().toISOString() } as LinkChange
  requireRight(chain, workspace, signer, said)
  const link = await signLink(chain, change, signingKey)
  const result = await send(link, chain)
  await chains.append(workspace, chain, link)
  return result
}

/** A person's user ID, found by their key. @throws FormerMember, UntrustedChain for a stranger */
export function ownId({ members, history }: Chain, workspace: Named, signingKey: string): string {
  for (const member of members.values()) {
    if (member.signing_key === signingKey) return member.user_id
  }
  const periods = [...history.values()].flat()
  if (periods.some((period) => period.signingKey === signingKey)) throw new FormerMember(workspace)
  throw new UntrustedChain(workspace, 'its chain does not list you as a member')
}
