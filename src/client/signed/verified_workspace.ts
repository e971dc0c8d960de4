/**
 * Everything of a signed workspace that a member's client can check: each environment by its manifest, and each token
 * that lives by its grant and the statements of its envelopes. Bindings are checked by the bearers of tokens.
 */
import { listAllowlist } from '../../features/allowlist/contract.ts'
import { listEnvironments, listProjects } from '../../features/projects/contract.ts'
import { listMembers } from '../../features/workspaces/contract.ts'
import type { Chain, Member } from '../../sigchain/index.ts'
import { reasonOfEnd } from '../agents/standing.ts'
import { readWholeEnvironment } from '../environment.ts'
import { type Api, ApiError } from '../http/api.ts'
import type { OpenWorkspace } from '../workspace.ts'
import { type Chains, UntrustedChain } from './chain.ts'
import { describeLeftToken, listAllTokens, type SeenToken, verifiedOf } from './rekey_tokens.ts'

export type CheckedEnvironment = {
  project: string
  environment: string
  /** 0 if it was never written. */
  revision: number
  secrets: number
  /** Null where it verifies. */
  fault: string | null
}

export type CheckedToken = {
  id: string
  label: string
  granted_by: string | null
  fingerprint: string
  /** Also tokens without a grant, which are unusable. */
  verdict: 'verified' | 'refused' | 'not granted'
  why: string | null
}

/** A chain and lists that are read one after the other may differ: everything is read again then. */
const MOST_READS = 3

/** Everything on the current chain, and unsigned data from the server. @throws ApiError, UntrustedChain */
export async function verifyWorkspace(api: Api, workspace: OpenWorkspace, chains: Chains) {
  for (let reads = 1; ; reads += 1) {
    const chain = await (reads === 1 ? chains.of(workspace) : chains.readNewerLinks(workspace))
    const [checked, differences] = await Promise.all([
      checkWorkspace(api, workspace, chain),
      differencesFrom(api, chain),
    ])
    const isSound =
      differences.length === 0 &&
      checked.environments.every(({ fault }) => fault === null) &&
      (checked.tokens ?? []).every(({ verdict }) => verdict !== 'refused')
    if (isSound || reads === MOST_READS) return { ...checked, differences, chain }
  }
}

/** `tokens` is null for people who may not list them. @throws ApiError */
async function checkWorkspace(api: Api, workspace: OpenWorkspace, chain: Chain) {
  const query = { workspace_id: workspace.id }
  const projects = await api.list(listProjects, { query })
  const environments: CheckedEnvironment[] = []
  for (const project of projects) {
    environments.push(...(await checkProject(api, workspace, project)))
  }
  return { environments, tokens: await checkTokens(api, chain, projects) }
}

type Project = { id: string; name: string }

async function checkProject(api: Api, workspace: OpenWorkspace, project: Project) {
  const params = { project_id: project.id }
  const { environments } = await api.call(listEnvironments, { params })
  const checked = Object.keys(environments).map(async (environment) => {
    const place = { projectId: project.id, environment, api, workspace }
    const found = { project: project.name, environment }
    try {
      const { stored } = await readWholeEnvironment(place, {})
      const { revision = 0, rows } = stored ?? {}
      return { ...found, revision, secrets: rows?.size ?? 0, fault: null }
    } catch (error) {
      if (!(error instanceof UntrustedChain)) throw error
      return { ...found, revision: 0, secrets: 0, fault: reasonOf(error) }
    }
  })
  return Promise.all(checked)
}

function reasonOf({ cause, message }: UntrustedChain): string {
  return cause instanceof Error ? cause.message : message
}

async function checkTokens(
  api: Api,
  chain: Chain,
  projects: readonly Project[],
): Promise<CheckedToken[] | null> {
  try {
    const listed = await listAllTokens(api, chain.workspaceId, projects)
    const live = listed.filter(({ status }) => status === 'active')
    return await Promise.all(live.map((token) => checkToken(chain, token)))
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return null
    throw error
  }
}

async function checkToken(chain: Chain, token: SeenToken): Promise<CheckedToken> {
  const { refused, standing } = await verifiedOf(token, chain)
  const { label } = standing !== null && 'grant' in standing ? standing.grant : token
  const faults = [
    ...refused.map(({ message }) => message),
    ...(standing?.is === 'ended'
      ? [`the server shows it as active, but it ended: ${reasonOfEnd(standing.end)}`]
      : []),
    ...(label === token.label ? [] : [`the server calls it ${token.label}`]),
  ]
  const why = faults.join('; ') || (standing?.is === 'ungranted' ? 'it has no signed grant' : null)
  const { id, creator: granted_by, fingerprint } = await describeLeftToken(token, why ?? '', chain)
  const sound = standing?.is === 'ungranted' ? 'not granted' : 'verified'
  return { id, label, granted_by, fingerprint, verdict: faults.length > 0 ? 'refused' : sound, why }
}

/** Differences between the server lists and the signatures. These lists have no effect. */
async function differencesFrom(api: Api, chain: Chain): Promise<string[]> {
  const params = { workspace_id: chain.workspaceId }
  const [members, allowlist] = await Promise.all([
    api.list(listMembers, { params }),
    api.list(listAllowlist, { params }),
  ])
  const listed = new Set(members.map(identityOfMember))
  const signed = new Set([...chain.members.values()].map(identityOfMember))
  const hosts = new Set(allowlist.map(({ domain }) => domain))
  const people = [...listed.symmetricDifference(signed)].map((identity) => identity.split(' ')[0])
  return [
    ...[...new Set(people)].map((email) => `of the member ${email}`),
    ...[...hosts.symmetricDifference(chain.allowlist)].map((host) => `of the host ${host}`),
  ].map((what) => `the server's list does not match the signatures ${what}`)
}

function identityOfMember(member: Omit<Member, 'signing_key'> & { signing_key: string | null }) {
  const { email, user_id, role, signing_key, public_key } = member
  return [email, user_id, role, signing_key, public_key].join(' ')
}
