/** A proposal as a person reads it: names and sentences in it come from an agent. */
import { type ListedProposal, readProposals } from '../../client/actions/proposals.ts'
import type { WorkspacePlace } from '../../client/workspace.ts'
import { idNamed } from '../approvals/named_request.ts'
import { formatRelativeTime } from '../terminal/moments.ts'

/** By its ID, or a part of it. @throws CliError `not_found`, `ambiguous_name` */
export async function proposalNamed(
  place: WorkspacePlace,
  typed: string,
  isOpen: boolean,
): Promise<ListedProposal> {
  const all = await readProposals(place, isOpen ? 'open' : null)
  const kind = { what: 'proposal', list: 'proposals list' } as const
  const id = idNamed(
    all.map((one) => one.id),
    typed,
    kind,
  )
  const found = all.find((one) => one.id === id)
  if (!found) throw new Error('the proposal was found by its ID')
  return found
}

export function proposalLines(
  { id, agent, status, reason, hosts, secrets, expires_at }: ListedProposal,
  now: Date,
): string[] {
  const named = secrets.map(({ key, description }) =>
    description === null ? key : `${key}: "${description}"`,
  )
  return [
    `agent    ${agent}`,
    `reason   "${reason}" (written by the agent)`,
    ...(hosts.length > 0 ? [`hosts    ${hosts.join(', ')}`] : []),
    ...named.map((text, at) => `${at === 0 ? 'secrets' : '       '}  ${text}`),
    `status   ${status}, expires ${formatRelativeTime(expires_at, now)}`,
    `id       ${id}`,
  ]
}
