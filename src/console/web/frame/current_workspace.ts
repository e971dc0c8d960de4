/** The workspace in the sidebar: the one of the address, else the one that was open last, else the first. */
import { useMatch } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Returned } from '../keys/messages.ts'
import { useAsk } from '../queries.ts'
import { createShared } from '../shared.ts'

export type ListedWorkspace = Returned<'workspaces.list'>[number]

const KEY = 'workspace'
const last = createShared(localStorage.getItem(KEY))

/** The ID alone, known before the list is read: the address or the last visit has it. */
export function useCurrentWorkspaceId(): string | null {
  const current = useCurrentWorkspace()
  const match = useMatch({ from: '/w/$workspaceId', shouldThrow: false })
  const { data } = useAsk('workspaces.list', null)
  if (data !== undefined) return current?.workspace.id ?? null
  return match?.params.workspaceId ?? last.get()
}

/**
 * Whether the address has a workspace that is not in the user's list, such as after a removal. `wasMember` is true if this
 * browser opened it last.
 */
export function useMissingWorkspace(): { wasMember: boolean } | null {
  const match = useMatch({ from: '/w/$workspaceId', shouldThrow: false })
  const { data, isFetching } = useAsk('workspaces.list', null)
  const remembered = last.useValue()
  const id = match?.params.workspaceId
  // The list is read again right after a workspace is created or joined.
  if (id === undefined || data === undefined || isFetching) return null
  return data.some((each) => each.id === id) ? null : { wasMember: remembered === id }
}

/** `isHere` is false on pages outside of a workspace, such as the account. Null while nothing is read. */
export function useCurrentWorkspace(): { workspace: ListedWorkspace; isHere: boolean } | null {
  const match = useMatch({ from: '/w/$workspaceId', shouldThrow: false })
  const { data = [] } = useAsk('workspaces.list', null)
  const remembered = last.useValue()
  const addressed = match?.params.workspaceId
  const joined = data.filter(({ status }) => status !== 'invited')
  const find = (id: string | null | undefined) => joined.find((each) => each.id === id)
  const here = find(addressed)
  useEffect(() => {
    if (!here || here.id === last.get()) return
    localStorage.setItem(KEY, here.id)
    last.set(here.id)
  }, [here])
  // An address with an unknown workspace must not show the name of another one.
  const workspace = addressed === undefined ? (find(remembered) ?? joined[0]) : here
  return workspace ? { workspace, isHere: here !== undefined } : null
}
