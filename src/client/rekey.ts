/**
 * A new workspace key: everything sealed under the old one is opened here and sealed anew. What the old
 * members could read they may have copied; what comes after is closed to them.
 */
import { listAgents, listAgentTokens, listWorkloadTokens } from '../features/agents/contract.ts'
import { listEnvironments, listProjects } from '../features/projects/contract.ts'
import { listSecrets } from '../features/secrets/contract.ts'
import { listMembers, rekeyWorkspace } from '../features/workspaces/contract.ts'
import { fromBase64 } from '../platform/crypto/encoding.ts'
import { sealMemberEnvelope } from '../platform/crypto/envelope.ts'
import type { Policy } from '../platform/policy.ts'
import type { ShownKeys } from '../sigchain/index.ts'
import type { Api } from './api.ts'
import { grantEnvironment, type OpenWorkspace, openSecret, sealSecret } from './vault.ts'

type Member = ShownKeys & { user_id: string; email: string }

/**
 * Rekeys a workspace; `approve` is asked about each member's public key before a key is sealed to it.
 *
 * @throws ApiError `epoch_conflict` when another member did it first, Error when a secret does not open
 */
export async function rekey(
  api: Api,
  workspace: OpenWorkspace,
  approve: (members: readonly Member[]) => Promise<void>,
): Promise<{ next: OpenWorkspace; members: number; tokens: number; secrets: number }> {
  const members = await api.list(listMembers, { params: { workspace_id: workspace.id } })
  await approve(members)
  const next: OpenWorkspace = {
    ...workspace,
    epoch: workspace.epoch + 1,
    key: crypto.getRandomValues(new Uint8Array(32)),
  }
  const [envelopes, tokens, secrets] = await Promise.all([
    Promise.all(members.map((member) => sealFor(member, next))),
    tokensOf(api, next),
    secretsOf(api, workspace, next),
  ])
  const body = { epoch: next.epoch, members: envelopes, tokens, secrets }
  await api.call(rekeyWorkspace, { params: { workspace_id: workspace.id }, body })
  return {
    next,
    members: members.length,
    tokens: tokens.length,
    secrets: secrets.length,
  }
}

async function sealFor(member: Member, { id, epoch, key }: OpenWorkspace) {
  const recipientPublicKey = fromBase64(member.public_key)
  if (!recipientPublicKey) throw new Error(`the public key of ${member.email} is not base64`)
  const place = { workspaceId: id, recipientPublicKey, epoch }
  const sealed = await naming(member.email, () => sealMemberEnvelope(place, key))
  return { user_id: member.user_id, encrypted_workspace_key: sealed }
}

/** A public key may be none that anything can be sealed to: whoever rekeys must know whose it is. */
async function naming<T>(owner: string, seal: () => Promise<T>): Promise<T> {
  try {
    return await seal()
  } catch (cause) {
    const message = `nothing can be sealed to the public key of ${owner}; nothing was changed`
    throw new Error(message, { cause })
  }
}

/** Every live token with what it was granted, sealed under the new key. */
async function tokensOf(api: Api, next: OpenWorkspace) {
  const workspace_id = next.id
  const agents = await api.list(listAgents, { params: { workspace_id } })
  const projects = await api.list(listProjects, { query: { workspace_id } })
  const listed = await Promise.all([
    ...agents.map(({ id }) =>
      api.list(listAgentTokens, { params: { workspace_id, registration_id: id } }),
    ),
    ...projects.map(({ id }) => api.list(listWorkloadTokens, { params: { project_id: id } })),
  ])
  const live = listed
    .flat()
    .filter(({ status, provisioned }) => status === 'active' && provisioned.length > 0)
  return Promise.all(
    live.map(async ({ id, label, public_key, provisioned }) => ({
      token_id: id,
      envelopes: await Promise.all(
        provisioned.map(({ project_id, environment }) =>
          naming(`the token ${label} (${id})`, () =>
            grantEnvironment(next, { id, publicKey: public_key }, project_id, environment),
          ),
        ),
      ),
    })),
  )
}

async function secretsOf(api: Api, before: OpenWorkspace, next: OpenWorkspace) {
  const projects = await api.list(listProjects, { query: { workspace_id: before.id } })
  const perProject = await Promise.all(
    projects.map(({ id }) => secretsOfProject(api, before, next, id)),
  )
  return perProject.flat()
}

async function secretsOfProject(
  api: Api,
  before: OpenWorkspace,
  next: OpenWorkspace,
  project_id: string,
) {
  const { environments } = await api.call(listEnvironments, { params: { project_id } })
  const filled = Object.entries(environments).filter(([, { secret_count }]) => secret_count > 0)
  const listed = await Promise.all(
    filled.map(([environment]) =>
      api.list(listSecrets, { params: { project_id }, query: { environment, include: 'value' } }),
    ),
  )
  return listed.flat().map(({ key, environment, value: ciphertext = '', policy }) => {
    const place = { projectId: project_id, environment, key }
    const bound = (policy ?? null) as Policy | null
    const opened = openSecret(before, place, bound, ciphertext)
    if (!opened)
      throw new Error(
        `${environment}/${key} does not open with the present key; nothing was changed`,
      )
    return {
      project_id,
      environment,
      key,
      value: sealSecret(next, place, bound, opened.reveal()),
      policy: bound,
    }
  })
}
