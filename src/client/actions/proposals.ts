/** Agent proposals: read, applied as ordinary signed changes, and closed. */
import { parseDomain } from '../../core/net/domain.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { closeProposal, listProposals } from '../../features/proposals/contract.ts'
import { type EnvironmentPlace, readSecrets } from '../environment.ts'
import type { CallResult } from '../http/api.ts'
import type { WorkspacePlace } from '../workspace.ts'
import { allowHosts, listKnownHosts } from './allowlist.ts'
import type { ServerPlace } from './approvals.ts'
import { uploadSecrets } from './set_secrets.ts'

export type ListedProposal = CallResult<typeof listProposals>[number]
export type ProposalStatus = ListedProposal['status']

/** Newest first; null reads all. */
export function readProposals(
  { api, workspace }: ServerPlace,
  status: ProposalStatus | null,
): Promise<ListedProposal[]> {
  const params = { workspace_id: workspace.id }
  return api.list(listProposals, { params, query: status === null ? {} : { status } })
}

/** The hosts of a proposal that are not allowed yet. */
export async function listMissingHosts(
  place: WorkspacePlace,
  { hosts }: Pick<ListedProposal, 'hosts'>,
): Promise<string[]> {
  const known = new Set(await listKnownHosts(place))
  return hosts.filter((host) => !known.has(parseDomain(host)?.text ?? host))
}

/** The secrets of a proposal that the environment does not have. */
export async function listMissingSecrets(
  place: EnvironmentPlace,
  { secrets }: Pick<ListedProposal, 'secrets'>,
) {
  const stored = new Set((await readSecrets(place)).map(({ key }) => key))
  return secrets.filter(({ key }) => !stored.has(key))
}

/** @throws ApiError `forbidden` without the right to change the allowlist, UntrustedChain */
export async function allowProposed(place: WorkspacePlace, hosts: string[]): Promise<void> {
  if (hosts.length > 0) await allowHosts(place, hosts)
}

/** A new secret may go to the proposed hosts only. Expects that none of them is stored. */
export async function storeProposed(
  place: EnvironmentPlace,
  { hosts, secrets }: Pick<ListedProposal, 'hosts' | 'secrets'>,
  values: ReadonlyMap<string, string>,
): Promise<void> {
  const entries = [...values].map(([key, value]) => {
    const described = secrets.find((secret) => secret.key === key)?.description
    const policy: Policy = {
      ...(hosts.length > 0 ? { allowed_domains: hosts } : {}),
      ...(described ? { description: described } : {}),
    }
    return { key, value, policy, expectedVersion: 0 }
  })
  if (entries.length > 0) await uploadSecrets(place, entries, true)
}

/** @throws ApiError `conflict` for one that was closed otherwise */
export async function closeProposed(
  { api, workspace }: ServerPlace,
  proposal_id: string,
  status: 'accepted' | 'rejected',
): Promise<void> {
  const params = { workspace_id: workspace.id, proposal_id }
  await api.call(closeProposal, { params, body: { status } })
}
