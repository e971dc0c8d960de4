/** The user's role in a workspace. The server checks the same matrix of roles again. */
import type { Permission } from '../../core/grant.ts'
import { permits } from '../../core/roles.ts'
import { useAsk } from './queries.ts'

/** Whether the user is a member of the workspace. */
export function useIsMember(workspaceId: string): boolean | null {
  const { data } = useAsk('workspaces.list', null)
  return data?.some(({ id }) => id === workspaceId) ?? null
}

/** Whether the user's role has the permission. Null until the role is known. */
export function useMay(workspaceId: string, permission: Permission): boolean | null {
  const { data } = useAsk('workspaces.list', null)
  if (data === undefined) return null
  const role = data.find(({ id }) => id === workspaceId)?.role
  return role !== undefined && permits(role, permission)
}

export function useManages(workspaceId: string): boolean | null {
  return useMay(workspaceId, 'agent.manage')
}
