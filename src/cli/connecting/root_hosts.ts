/** The hosts that a root needs on the allowlist: its token endpoint, and where the credential is used. */
import { allowHosts, listUncoveredHosts } from '../../client/actions/allowlist.ts'
import { matrix, permits, roleRefusal } from '../../core/roles.ts'
import type { Context } from '../context.ts'
import { type ProjectScope, placeOf } from '../scope.ts'

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
  const missing = await listUncoveredHosts(placeOf(scope), hosts)
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
