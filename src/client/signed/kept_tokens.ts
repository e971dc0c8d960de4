/**
 * Tokens that end when their signer is removed, demoted, or gets new keys. The person who makes that change can keep
 * them by signing the same grants and verified environment keys again in that call.
 */
import { listProjects } from '../../features/projects/contract.ts'
import type { Chain, TokenGrant } from '../../sigchain/index.ts'
import type { Api } from '../http/api.ts'
import { grantEnvironment } from '../vault.ts'
import type { OpenWorkspace } from '../workspace.ts'
import {
  type LeftToken,
  leftOf,
  listAllTokens,
  type OwnedToken,
  signerIn,
  verifiedOf,
} from './rekey_tokens.ts'
import { type MemberSigner, type Place, signGrant } from './statements.ts'

export type SignedToken = { token: OwnedToken; grant: TokenGrant; places: Place[] }

/** Active tokens that depend on signatures of a person, and their faults. */
export async function tokensSignedBy(
  api: Api,
  chain: Chain,
  userId: string,
): Promise<{ held: SignedToken[]; left: LeftToken[] }> {
  const workspace_id = chain.workspaceId
  const projects = await api.list(listProjects, { query: { workspace_id } })
  const listed = await listAllTokens(api, workspace_id, projects)
  const live = listed.filter(
    (token) => token.status === 'active' && signersOf(token).includes(userId),
  )
  const judged = await Promise.all(live.map((token) => judge(chain, token)))
  return {
    held: judged.flatMap(({ held }) => held ?? []),
    left: judged.flatMap(({ left }) => left),
  }
}

function signersOf({ grant, provisioned }: OwnedToken): (string | null)[] {
  return [grant, ...provisioned].map((text) => signerIn(text?.statement ?? ''))
}

async function judge(chain: Chain, token: OwnedToken) {
  const verified = await verifiedOf(token, chain)
  const left = await leftOf(verified, chain)
  const { standing } = verified
  if (standing?.is !== 'granted') return { held: null, left }
  const { grant } = standing
  const places = verified.places.map(({ project_id: projectId, environment }) => ({
    projectId,
    environment,
  }))
  return { held: { token, grant, places }, left }
}

/** The statements of a token, signed again on the current chain. */
export async function resignTokens(workspace: OpenWorkspace, kept: readonly SignedToken[]) {
  const signer = await workspace.signer()
  return signer === null ? [] : signGrantsAgain(signer, workspace, kept)
}

/** Signs on a chain that may not exist yet, for the `grants` of the call that ends the old ones. */
export function signGrantsAgain(
  signer: MemberSigner,
  workspace: OpenWorkspace,
  kept: readonly SignedToken[],
) {
  const live = kept.filter(({ token }) => !signer.chain.revokedTokens.has(token.id))
  return Promise.all(
    live.map(async ({ token: { id }, grant, places }) => {
      const { v: _, workspace_id: __, head: ___, signer: ____, ...terms } = grant
      const holder = { id, publicKey: grant.public_key }
      const envelopes = places.map((place) => grantEnvironment(signer, workspace, holder, place))
      return {
        token_id: id,
        grant: await signGrant(signer, terms),
        envelopes: await Promise.all(envelopes),
      }
    }),
  )
}
