/** Grants environment keys to existing tokens. */
import {
  MOST_TOKEN_ENVELOPES,
  provisionAgentToken,
  provisionWorkloadToken,
} from '../../features/agents/contract.ts'
import type { ListedToken } from '../agents/standing.ts'
import { holderOf, type TokenOwner } from '../agents/tokens.ts'
import { type Api, ApiError } from '../http/api.ts'
import type { Place } from '../signed/statements.ts'
import { grantEnvironment } from '../vault.ts'
import type { OpenWorkspace, WorkspacePlace } from '../workspace.ts'

/** Null means every project, or environment. */
type Scope = { projectId: string | null; environment: string | null }

export function isWithin(scope: Scope, { projectId, environment }: Place): boolean {
  const isOf = (own: string | null, other: string) => own === null || own === other
  return isOf(scope.projectId, projectId) && isOf(scope.environment, environment)
}

/**
 * The granted environments: if they are signed, no server is asked.
 *
 * @throws ApiError `validation_error` for another one, EndedToken, UntrustedChain where the grant does not hold
 */
export async function giveKeys(
  giving: WorkspacePlace,
  owner: TokenOwner,
  token: ListedToken & { label: string },
  places: readonly Place[],
): Promise<void> {
  const { scope, ...holder } = await holderOf(giving.workspace, token, owner)
  const outside = places.find((place) => scope !== null && !isWithin(scope, place))
  if (outside) {
    const message = `${outside.environment} is outside the scope of the token ${token.label}`
    throw new ApiError(422, { error_code: 'validation_error', message })
  }
  await sendKeys(giving, owner, holder, places)
}

/** Split into calls with the maximum size. */
export async function sendKeys(
  { api, workspace }: WorkspacePlace,
  owner: TokenOwner,
  holder: { id: string; publicKey: string },
  places: readonly Place[],
): Promise<void> {
  const signer = await workspace.signer('agent.manage')
  for (let from = 0; from < places.length; from += MOST_TOKEN_ENVELOPES) {
    const some = places.slice(from, from + MOST_TOKEN_ENVELOPES)
    const body = await Promise.all(
      some.map((place) => grantEnvironment(signer, workspace, holder, place)),
    )
    await send(api, workspace.id, owner, holder.id, body)
  }
}

type Envelopes = Awaited<ReturnType<typeof grantEnvironment>>[]

function send(
  api: Api,
  workspace_id: string,
  owner: TokenOwner,
  token_id: string,
  body: Envelopes,
) {
  if ('projectId' in owner) {
    const params = { project_id: owner.projectId, token_id }
    return api.call(provisionWorkloadToken, { params, body })
  }
  const params = { workspace_id, registration_id: owner.agentId, token_id }
  return api.call(provisionAgentToken, { params, body })
}

type Provisioned = { project_id: string; environment: string; epoch: number }

/** The environments in its scope without the current key, and whether it had a key before a rekey. */
export function findMissingKeys<P extends Place>(
  { epoch }: Pick<OpenWorkspace, 'epoch'>,
  { provisioned }: { provisioned: readonly Provisioned[] },
  places: readonly P[],
): (P & { hadEarlier: boolean })[] {
  return places.flatMap((place) => {
    const own = provisioned.find(
      ({ project_id, environment }) =>
        project_id === place.projectId && environment === place.environment,
    )
    return own?.epoch === epoch ? [] : [{ ...place, hadEarlier: own !== undefined }]
  })
}
