/** The hosts that a root needs on the allowlist: its token endpoint, and where the credential is used. */
import { allowHosts, knownHosts } from '../../client/actions/allowlist.ts'
import { domainMatches, parseDomain } from '../../core/net/domain.ts'
import { matrix, permits, roleRefusal } from '../../core/roles.ts'
import type { Context } from '../context.ts'
import { type ProjectScope, placeOf } from '../scope.ts'

/** host[:port] of an https address. */
export function domainOf(address: string): string {
  const { host } = new URL(address)
  return parseDomain(host)?.text ?? host
}

/** @throws Fault `forbidden` where --allow needs another role; before anybody is asked anything */
export function demandAllowRole({ workspace }: ProjectScope): void {
  if (!permits(workspace.role, 'allowlist.write'))
    throw roleRefusal(matrix['allowlist.write'], workspace.role)
}

/** Adds the hosts that are missing, or names them with the command that does. */
export async function settleHosts(
  { output }: Context,
  scope: ProjectScope,
  hosts: readonly string[],
  isAllowed: boolean,
): Promise<{ allowed: string[]; missing: string[] }> {
  const missing = await missingOf(scope, hosts)
  if (missing.length === 0) return { allowed: [], missing }
  if (isAllowed) {
    await allowHosts(placeOf(scope), missing)
    output.note(`Allowed: ${missing.join(', ')}`)
    return { allowed: missing, missing: [] }
  }
  const [verb, noun] = missing.length === 1 ? ['is', 'an allowed host'] : ['are', 'allowed hosts']
  output.warn(
    `${missing.join(', ')} ${verb} not ${noun} yet.`,
    `Run: cloakroom allowlist add ${missing.join(' ')}`,
  )
  return { allowed: [], missing }
}

async function missingOf(scope: ProjectScope, hosts: readonly string[]): Promise<string[]> {
  const known = (await knownHosts(placeOf(scope))).flatMap((text) => parseDomain(text) ?? [])
  return [...new Set(hosts)].filter((text) => {
    const wanted = parseDomain(text)
    if (wanted === null) return true
    if (known.some((entry) => entry.text === wanted.text)) return false
    return wanted.wildcard || !known.some((entry) => domainMatches(entry, wanted.host, wanted.port))
  })
}
