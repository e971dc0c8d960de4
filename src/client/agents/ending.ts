/** Ending tokens by links, which outlast the database, and deleting what they belong to. */
import {
  listAgentTokens,
  listProjectAgents,
  listWorkloadTokens,
  revokeAgentToken,
  revokeWorkloadToken,
} from '../../features/agents/contract.ts'
import {
  deleteEnvironment as deleteEnvironmentEndpoint,
  deleteProjectShort,
} from '../../features/projects/contract.ts'
import { isSignedId, type SignedText } from '../../sigchain/index.ts'
import { emptying, openWriter } from '../environment.ts'
import { type Api, ApiError } from '../http/api.ts'
import type { Judge, Send } from '../signed/sign_change.ts'
import type { Place } from '../signed/statements.ts'
import type { OpenWorkspace } from '../vault.ts'
import { revocationOf } from './tokens.ts'

export type Ending = {
  api: Api
  workspace: OpenWorkspace
  sign<T>(judge: Judge, send: Send<T>): Promise<T>
  /** The server took no link: only its database says that a token ended. */
  unsigned(): void
}

/**
 * Ends these tokens. Where the server takes no link, as at the end of a chain that is full, it takes the call without one:
 * stopping is always allowed (protocol 12.1).
 */
export async function endTokens(
  { sign, unsigned }: Ending,
  ids: readonly string[],
  send: (link?: SignedText) => Promise<unknown>,
): Promise<void> {
  try {
    await sign((chain) => revocationOf(chain, ids), send)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'link_refused') throw error
    await send()
    unsigned()
  }
}

/** With its secrets, agents and tokens. @throws ApiError `not_found` where it is gone already */
export async function deleteProject(ending: Ending, projectId: string): Promise<void> {
  await endTokensOf(ending, { projectId })
  await ending.api.call(deleteProjectShort, { params: { project: projectId } })
}

/** With its secrets, and the tokens of it alone. @throws ApiError `not_found` where it is gone already */
export async function deleteEnvironment(ending: Ending, { projectId, environment }: Place) {
  const params = { project_id: projectId, environment }
  const write = openWriter({ ...ending, projectId, environment })
  const deleted = await write(emptying, (manifest) =>
    ending.api.call(deleteEnvironmentEndpoint, { params, body: { manifest } }),
  ).catch(async (error: unknown) => {
    // Who deleted it may not have come as far as its tokens.
    if (isNotFound(error)) await endTokensOf(ending, { projectId, environment })
    throw error
  })
  await endTokensOf(ending, { projectId, environment })
  return deleted
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'not_found'
}

type Listed = { environment: string | null }

/** Those that the server lists and that end with it: of a project all, else those of the environment alone. */
async function endTokensOf(
  ending: Ending,
  { projectId: project_id, environment }: { projectId: string; environment?: string },
): Promise<void> {
  const { api, workspace } = ending
  if (!isSignedId(workspace.id)) return
  const workspace_id = workspace.id
  // Also those that the database calls revoked: it may take that back.
  const isEnding = (token: Listed) => (environment ?? token.environment) === token.environment
  const workloads = await api.list(listWorkloadTokens, { params: { project_id } })
  for (const { id: token_id } of workloads.filter(isEnding)) {
    const params = { project_id, token_id }
    await endTokens(ending, [token_id], (link) =>
      api.call(revokeWorkloadToken, { params, body: { link } }),
    )
  }
  for (const agent of await api.list(listProjectAgents, { params: { workspace_id, project_id } })) {
    const place = { workspace_id, registration_id: agent.id }
    const tokens = await api.list(listAgentTokens, { params: place })
    for (const { id: token_id } of tokens.filter(isEnding)) {
      const params = { ...place, token_id }
      await endTokens(ending, [token_id], (link) =>
        api.call(revokeAgentToken, { params, body: { link } }),
      )
    }
  }
}
