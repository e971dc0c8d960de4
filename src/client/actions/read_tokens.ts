/** Tokens with their permissions: in a signed workspace, the signed ones, which may differ from their rows. */
import { limitNames, type TokenLimits } from '../../core/token_limits.ts'
import { listAgentTokens, listWorkloadTokens } from '../../features/agents/contract.ts'
import { type Chain, Refusal, readNarrowing } from '../../sigchain/index.ts'
import { EndedToken } from '../agents/standing.ts'
import { grantTo, type TokenOwner } from '../agents/tokens.ts'
import { type SeenToken, verifiedOf } from '../signed/rekey_tokens.ts'
import type { WorkspacePlace } from '../workspace.ts'

/** All tokens of an agent, or of a project's workloads. */
export function listTokensOf({ api, workspace }: WorkspacePlace, owner: TokenOwner) {
  if ('projectId' in owner)
    return api.list(listWorkloadTokens, { params: { project_id: owner.projectId } })
  const params = { workspace_id: workspace.id, registration_id: owner.agentId }
  return api.list(listAgentTokens, { params })
}

/** The signed tokens of an owner. @throws UntrustedChain */
export async function readTokens(place: WorkspacePlace, owner: TokenOwner) {
  const listed = await listTokensOf(place, owner)
  // Read the chain after the rows, so that both include a concurrent revocation.
  const chain = await place.workspace.newestChain()
  return Promise.all(
    listed.map(async (token) => ({
      id: token.id,
      lastUsedAt: token.last_used_at,
      createdAt: token.created_at,
      spent: token.spent ?? null,
      ...(await termsOf(chain, owner, token)),
    })),
  )
}

/** The capabilities, scope, expiry and granter of a token. A token with a `fault` is unusable. */
async function termsOf(chain: Chain | null, owner: TokenOwner, token: SeenToken) {
  const { label, status, environment, capabilities, limits, provisioned } = token
  const { expires_at: expiresAt } = token
  const row = { label, status, environment, capabilities, limits, expiresAt, provisioned }
  const believed = { ...row, projectId: undefined, by: null, fault: null, differs: false }
  if (!chain) return believed
  try {
    const grant = await grantTo(chain, token, owner)
    const { places } = await verifiedOf(token, chain)
    const signed = {
      label: grant.label,
      status: 'active' as const,
      environment: grant.environment,
      capabilities: [...grant.capabilities],
      limits: readNarrowing(grant).limits,
      expiresAt: grant.expires_at,
      provisioned: places,
    }
    const by = chain.members.get(grant.signer)?.email ?? grant.signer
    const differs = termsText(row) !== termsText(signed)
    return { ...signed, projectId: grant.project_id, by, fault: null, differs }
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof EndedToken)) throw error
    return status === 'active' ? { ...believed, provisioned: [], fault: error.message } : believed
  }
}

type Terms = Pick<SeenToken, 'label' | 'status' | 'environment' | 'provisioned'> & {
  capabilities: readonly string[]
  limits: TokenLimits | null
  expiresAt: string | null
}

function termsText({ label, status, environment, limits, ...terms }: Terms) {
  const { capabilities, expiresAt, provisioned } = terms
  const most = limitNames.map((name) => limits?.[name] ?? null)
  const until = expiresAt && Date.parse(expiresAt)
  const may = [...capabilities].sort()
  return JSON.stringify([label, status, environment, may, most, until, provisioned.length])
}
