/**
 * An opened workspace. Only this module distinguishes plain and signed workspaces, by ID. Both have the same methods;
 * plain ones have no chain, signer or links.
 */
import type { Permission } from '../core/grant.ts'
import { type Chain, type Identity, isSignedId, Refusal } from '../sigchain/index.ts'
import type { Api } from './http/api.ts'
import type { Named } from './known_names.ts'
import { type Chains, UntrustedChain } from './signed/chain.ts'
import { requireRole } from './signed/rights.ts'
import { type ChainSigner, type Judge, ownId, type Send, signChange } from './signed/sign_change.ts'
import type { MemberSigner } from './signed/statements.ts'
import type { WorkspaceKey } from './workspace_key.ts'

type Methods = {
  /** The verified chain, as first read. @throws UntrustedChain */
  chain(): Promise<Chain | null>
  /** The chain with the links that came since. @throws UntrustedChain */
  newestChain(): Promise<Chain | null>
  /** The signer, if the role permits it. @throws ApiError `forbidden`, UntrustedChain, FormerMember */
  signer(permission?: Permission): Promise<MemberSigner | null>
  /** The result of `check` on the chain, checked again if someone signed meanwhile. @throws UntrustedChain */
  verify<T>(check: (chain: Chain) => Promise<T>): Promise<T | null>
  /** Makes a change, with the link from `judge`. @throws ApiError, UntrustedChain */
  change<T>(judge: Judge, send: Send<T>): Promise<T>
}

export type PlainWorkspace = Named & Methods & { chains: null }
export type SignedWorkspace = Named &
  Methods & { chains: Chains; identity: () => Promise<Identity> }
export type AnyWorkspace = PlainWorkspace | SignedWorkspace
/** A workspace with its key. */
export type OpenWorkspace = AnyWorkspace & WorkspaceKey

export type WorkspacePlace = { api: Api; workspace: OpenWorkspace }

/** How the person who opens a workspace signs in it. */
export type OwnSignature = { chains: Chains; identity: () => Promise<Identity> }

export function attachSignature<W extends Named>(
  signature: OwnSignature,
  workspace: W,
): W & AnyWorkspace {
  return isSignedId(workspace.id)
    ? toSignedWorkspace(workspace, signature)
    : toPlainWorkspace(workspace)
}

export function toPlainWorkspace<W extends Named>(workspace: W): W & PlainWorkspace {
  const returnNull = async () => null
  return {
    ...workspace,
    chains: null,
    chain: returnNull,
    newestChain: returnNull,
    signer: returnNull,
    verify: returnNull,
    change: (_, send) => send(undefined, null),
  }
}

export function toSignedWorkspace<W extends Named>(
  workspace: W,
  { chains, identity }: OwnSignature,
): W & SignedWorkspace {
  const signing = { chains, identity, workspace }
  return {
    ...workspace,
    chains,
    identity,
    chain: () => chains.of(workspace),
    newestChain: () => chains.readNewerLinks(workspace),
    signer: async (permission) => {
      const chain = await chains.of(workspace)
      const { signing_key, signingKey } = await identity()
      const userId = ownId(chain, workspace, signing_key)
      if (permission) requireRole(chain, workspace, userId, permission)
      return { chain, userId, signingKey }
    },
    verify: (check) => verifyWithChain(signing, check),
    change: (judge, send) => signChange(signing, judge, send),
  }
}

/** A list and a chain are read separately, with possible changes in between, so failed verifications are repeated. */
async function verifyWithChain<T>(
  { chains, workspace }: ChainSigner,
  check: (chain: Chain) => Promise<T>,
): Promise<T> {
  try {
    return await check(await chains.of(workspace))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
  try {
    return await check(await chains.readNewerLinks(workspace))
  } catch (error) {
    throw error instanceof Refusal ? new UntrustedChain(workspace, error.message, error) : error
  }
}
