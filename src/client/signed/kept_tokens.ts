/**
 * Tokens that end when somebody is removed or demoted, for that person signed them. Who stays can sign the same
 * again: the grant as it is, and the keys of the environments that it was verifiably given.
 */
import { grantAgentToken, grantWorkloadToken } from '../../features/agents/contract.ts'
import { listProjects } from '../../features/projects/contract.ts'
import { type Chain, Refusal, type TokenGrant } from '../../sigchain/index.ts'
import type { Api } from '../api.ts'
import { grantOf } from '../tokens.ts'
import { grantEnvironment, type OpenWorkspace, signerOf } from '../vault.ts'
import { listTokens, type Token, verifiedOf } from './rekey_tokens.ts'
import { type Place, signGrant } from './statements.ts'

export type SignedToken = { token: Token; grant: TokenGrant; places: Place[] }

/** Tokens that work now, and would not without what somebody signed. */
export async function tokensSignedBy(
  api: Api,
  chain: Chain,
  userId: string,
): Promise<SignedToken[]> {
  const workspace_id = chain.workspaceId
  const projects = await api.list(listProjects, { query: { workspace_id } })
  const listed = await listTokens(api, workspace_id, projects)
  const live = listed.filter(({ status }) => status === 'active')
  const signed = await Promise.all(live.map((token) => signedBy(chain, token, userId)))
  return signed.flatMap((token) => token ?? [])
}

async function signedBy(chain: Chain, token: Token, userId: string): Promise<SignedToken | null> {
  const grant = token.grant ? await grantOf({ chain }, token).catch(refusedAsNull) : null
  if (grant === null) return null
  const { places } = await verifiedOf(token, chain)
  const signers = places.map(({ statement = '{}' }) => JSON.parse(statement).signer)
  if (![grant.signer, ...signers].includes(userId)) return null
  const granted = places.map(({ project_id, environment }) => ({
    projectId: project_id,
    environment,
  }))
  return { token, grant, places: granted }
}

function refusedAsNull(error: unknown): null {
  if (error instanceof Refusal) return null
  throw error
}

/** Signs what a token has again. @throws ApiError, UntrustedChain */
export async function signTokenAgain(
  api: Api,
  workspace: OpenWorkspace,
  { token, grant, places }: SignedToken,
): Promise<void> {
  const signer = await signerOf(workspace)
  if (signer === null) throw new Error('a plain workspace has no grants')
  const { v: _, workspace_id, head: __, signer: ___, ...terms } = grant
  const holder = { id: token.id, publicKey: grant.public_key }
  const body = {
    grant: await signGrant(signer, terms),
    envelopes: await Promise.all(
      places.map(({ projectId, environment }) =>
        grantEnvironment(workspace, holder, projectId, environment),
      ),
    ),
  }
  const { agent_id, project_id } = terms
  if (agent_id !== null) {
    const params = { workspace_id, registration_id: agent_id, token_id: token.id }
    await api.call(grantAgentToken, { params, body })
  } else {
    const params = { project_id: project_id ?? '', token_id: token.id }
    await api.call(grantWorkloadToken, { params, body })
  }
}
