/** Extends refusals by role with the current role, the required role, and the members who have it. */
import { type Api, ApiError, callsWithin } from '../../client/http/api.ts'
import { roleDenied } from '../../client/signed/rights.ts'
import type { Permission } from '../../core/grant.ts'
import { matrix } from '../../core/roles.ts'
import { listMembers } from '../../features/workspaces/contract.ts'
import type { Endpoint } from '../../http/endpoint.ts'

type Place = { id: string; name: string; role: string }

/** Other errors are returned unchanged. */
export async function explainRoleRefusal(
  api: Api,
  place: Place,
  access: Endpoint['access'],
  error: unknown,
): Promise<unknown> {
  const isDenied = error instanceof ApiError && error.code === 'forbidden'
  if (!isDenied || access.kind !== 'member') return error
  if (isEnough(place.role, access.permission)) return error
  const params = { workspace_id: place.id }
  const members = await api.list(listMembers, { params }).catch(() => [])
  return roleDenied(place, place.role, matrix[access.permission], members)
}

/** Someone with the role was refused for another reason. Admins can change only members below them. */
function isEnough(held: string, permission: Permission): boolean {
  if (permission === 'member.manage' && held === 'admin') return false
  return matrix[permission].some((role) => role === held)
}

/** `placeOf` is the workspace that the command works in, once it is known. */
export function withRoleExplanations(api: Api, placeOf: () => Place | null): Api {
  return callsWithin(api, async (call, { access }) => {
    try {
      return await call()
    } catch (error) {
      const place = placeOf()
      throw place === null ? error : await explainRoleRefusal(api, place, access, error)
    }
  })
}
