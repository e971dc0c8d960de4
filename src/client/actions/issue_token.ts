/** Agents with their first token, and further tokens: made here, so that the server never sees one. */

import { uuidv7 } from '../../core/crypto/encoding.ts'
import {
  issueAgentToken,
  issueWorkloadToken,
  MOST_TOKEN_ENVELOPES,
  registerAgent,
  registerProjectAgent,
} from '../../features/agents/contract.ts'
import { makeToken, type TokenOrder } from '../agents/tokens.ts'
import type { Place } from '../signed/statements.ts'
import type { WorkspacePlace } from '../workspace.ts'
import { sendKeys } from './grant.ts'

/** Null means every environment. The token gets the keys of `places`. */
type Terms = { environment: string | null; order: TokenOrder; places: readonly Place[] }

/** Grants that do not fit into the creation and need a separate call. */
function furtherOf(places: readonly Place[]): readonly Place[] {
  return places.slice(MOST_TOKEN_ENVELOPES)
}

function holderMade({ id, body }: Awaited<ReturnType<typeof makeToken>>) {
  return { id, publicKey: body.token.public_key }
}

/** For one project, or with null for the whole workspace. @throws ApiError, UntrustedChain */
export async function registerWithToken(
  { api, workspace }: WorkspacePlace,
  { name, projectId }: { name: string; projectId: string | null },
  { environment, order, places }: Terms,
) {
  // The capabilities of a token are signed with its agent; in a plain workspace the server chooses an id.
  const id = uuidv7()
  const scope = { kind: 'agent', agentId: id, projectId, environment } as const
  const made = await makeToken(workspace, scope, order, places.slice(0, MOST_TOKEN_ENVELOPES))
  const own = workspace.chains ? { id } : {}
  const body = { ...own, name, ...made.body }
  const params = { workspace_id: workspace.id }
  const { agent, capabilities } =
    projectId === null
      ? await api.call(registerAgent, { params, body })
      : await api.call(registerProjectAgent, { params: { ...params, project_id: projectId }, body })
  const agentId = own.id ?? agent.id
  await sendKeys({ api, workspace }, { agentId }, holderMade(made), furtherOf(places))
  return { agent: { ...agent, ...own }, capabilities, id: made.id, text: made.text }
}

/** @throws ApiError, UntrustedChain */
export async function issueToAgent(
  { api, workspace }: WorkspacePlace,
  agent: { id: string; project_id: string | null },
  { environment, order, places }: Terms,
) {
  const { id: agentId, project_id: projectId } = agent
  const scope = { kind: 'agent', agentId, projectId, environment } as const
  const made = await makeToken(workspace, scope, order, places.slice(0, MOST_TOKEN_ENVELOPES))
  const params = { workspace_id: workspace.id, registration_id: agentId }
  const { capabilities } = await api.call(issueAgentToken, { params, body: made.body })
  await sendKeys({ api, workspace }, { agentId }, holderMade(made), furtherOf(places))
  return { capabilities, id: made.id, text: made.text }
}

/** A token of a container or CI job: one project, one environment. @throws ApiError, UntrustedChain */
export async function issueToWorkload(
  { api, workspace }: WorkspacePlace,
  place: Place,
  order: TokenOrder & { label: string },
) {
  const made = await makeToken(workspace, { kind: 'workload', ...place }, order, [place])
  const { label } = order
  const { capabilities } = await api.call(issueWorkloadToken, {
    params: { project_id: place.projectId },
    body: { ...made.body, label, environment: place.environment },
  })
  return { capabilities, id: made.id, text: made.text }
}
