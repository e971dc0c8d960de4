/** What a token is narrowed to must exist: one for a mistyped name is worth nothing, which only its holder would find out. */

import { type Domain, domainMatches, parseDomain } from '../../core/net/domain.ts'
import { listAllowlist } from '../../features/allowlist/contract.ts'
import { continued, notFound } from '../named.ts'
import type { ProjectScope } from '../scope.ts'
import { absence } from '../suggestions.ts'
import { CliError } from '../terminal/cli_error.ts'

const OTHERWISE = 'add --allow-unknown to accept it'

/** @throws CliError for a name that the environment does not have, or a host of which the allowlist has no part */
export async function demandKnown(
  scope: ProjectScope,
  { hosts = [], secrets = [] }: { hosts?: string[]; secrets?: string[] },
): Promise<void> {
  const absent = secrets.length > 0 ? await absence(scope, ...secrets) : null
  if (absent)
    throw new CliError('not_found', absent.message, continued(absent.hint ?? '', OTHERWISE))
  if (hosts.length > 0) await demandAllowed(scope, hosts)
}

async function demandAllowed(
  { session, workspace }: ProjectScope,
  hosts: readonly string[],
): Promise<void> {
  const rows = await session.api.list(listAllowlist, { params: { workspace_id: workspace.id } })
  const known = rows.map(({ domain }) => domain)
  const allowed = known.flatMap((text) => parseDomain(text) ?? [])
  const unknown = hosts.find((host) => !meets(parseDomain(host), allowed))
  if (unknown === undefined) return
  throw notFound(unknown, known, {
    what: 'allowed host',
    where: `in ${workspace.name}`,
    list: 'allowlist list',
    otherwise: OTHERWISE,
  })
}

/** Whether a host that the token is for can be reached: either entry may be a wildcard that covers the other. */
function meets(host: Domain | null, allowed: readonly Domain[]): boolean {
  return allowed.some(
    (entry) =>
      host !== null && (entry.text === host.text || covers(entry, host) || covers(host, entry)),
  )
}

function covers(one: Domain, other: Domain): boolean {
  return !other.wildcard && domainMatches(one, other.host, other.port)
}
