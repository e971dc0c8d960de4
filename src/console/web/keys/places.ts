/** Finds the workspaces and environments of commands by their IDs. */
import type { EnvironmentPlace } from '../../../client/environment.ts'
import type { OpenWorkspace, WorkspacePlace } from '../../../client/workspace.ts'
import { readWorkspaces, type WorkspaceEntry } from '../../../client/workspaces.ts'
import { Refused } from './failure.ts'
import type { UnlockedSession } from './unlocked_session.ts'

/** Milliseconds for which the list of workspaces is cached. */
const FRESH_MS = 10_000

type Read = { at: number; entries: Promise<WorkspaceEntry[]> }
/** Cached lists, by the chains of a session. */
const read = new WeakMap<object, Read>()

export type Place = { workspaceId: string; projectId: string; environment: string }

/** The user's workspaces and invitations, with their newest links. */
export function workspacesOf(session: UnlockedSession): Promise<WorkspaceEntry[]> {
  const reader = session.reader()
  const { chains } = reader.trust
  const known = read.get(chains)
  if (known && Date.now() - known.at < FRESH_MS) return known.entries
  const entries = readWorkspaces(reader).then((listed) => session.names.ofWorkspaces(listed))
  read.set(chains, { at: Date.now(), entries })
  entries.catch(() => read.delete(chains))
  return entries
}

/** Clears the cache after a change of workspaces or pins. */
export function forgetWorkspaces(session: UnlockedSession): void {
  read.delete(session.reader().trust.chains)
}

/** Returns a workspace with its key. @throws UntrustedKey, UntrustedChain, Refused `not_found`, `unreadable_workspace` */
export async function workspaceOf(
  session: UnlockedSession,
  workspaceId: string,
): Promise<WorkspaceEntry & { open: OpenWorkspace }> {
  const found = (await workspacesOf(session)).find(({ id }) => id === workspaceId)
  if (found?.status !== 'active') throw new Refused('not_found')
  if (found.fault) throw found.fault
  if (!found.open) throw new Refused('unreadable_workspace')
  await found.newestChain()
  return { ...found, open: found.open }
}

/** Returns the place for `client/actions`. @throws the errors of `workspaceOf` */
export async function placeIn(
  session: UnlockedSession,
  workspaceId: string,
): Promise<WorkspacePlace> {
  return { api: session.api, workspace: (await workspaceOf(session, workspaceId)).open }
}

export async function environmentAt(
  session: UnlockedSession,
  { workspaceId, projectId, environment }: Place,
): Promise<EnvironmentPlace> {
  const place = await placeIn(session, workspaceId)
  session.names.demand(projectId)
  return { ...place, projectId, environment }
}
