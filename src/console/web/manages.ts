/** What the person is in a workspace; the server has the last word, and judges by the same matrix of roles. */
import type { Permission } from '../../core/grant.ts'
import { permits } from '../../core/roles.ts'
import { useAsk } from './queries.ts'

/** Whether they are in such a workspace at all. */
export function useIsMember(workspaceId: string): boolean | null {
  const { data } = useAsk('workspaces.list', null)
  return data?.some(({ id }) => id === workspaceId) ?? null
}

/** Whether their role lets them do what needs the permission; null as long as it is not known. */
export function useMay(workspaceId: string, permission: Permission): boolean | null {
  const { data } = useAsk('workspaces.list', null)
  if (data === undefined) return null
  const role = data.find(({ id }) => id === workspaceId)?.role
  return role !== undefined && permits(role, permission)
}

export function useManages(workspaceId: string): boolean | null {
  return useMay(workspaceId, 'agent.manage')
}
