/** What the person is in a workspace; the server has the last word. */
import { useAsk } from '../queries.ts'

/** Whether they are in such a workspace at all. */
export function useIsMember(workspaceId: string): boolean | null {
  const { data } = useAsk('workspaces.list', null)
  return data?.some(({ id }) => id === workspaceId) ?? null
}

export function useManages(workspaceId: string): boolean | null {
  const { data } = useAsk('workspaces.list', null)
  const role = data?.find(({ id }) => id === workspaceId)?.role
  return data === undefined ? null : role === 'owner' || role === 'admin'
}
