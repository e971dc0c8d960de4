/** Workspaces and environments that commands work in, by their ids. */
import type { EnvironmentPlace } from '../../../client/environment.ts'
import type { OpenWorkspace, WorkspacePlace } from '../../../client/workspace.ts'
import { readWorkspaces, type WorkspaceEntry } from '../../../client/workspaces.ts'
import { Refused } from './failure.ts'
import type { HeldKeys } from './held.ts'

/** Milliseconds for which what was read of a workspace is used again. */
const FRESH_MS = 10_000

type Read = { at: number; entries: Promise<WorkspaceEntry[]> }
/** By the chains of a session: another one reads again. */
const read = new WeakMap<object, Read>()

export type Place = { workspaceId: string; projectId: string; environment: string }

/** All of the person's, invited ones too; chains are read on. */
export function workspacesOf(held: HeldKeys): Promise<WorkspaceEntry[]> {
  const reader = held.reader()
  const { chains } = reader.trust
  const known = read.get(chains)
  if (known && Date.now() - known.at < FRESH_MS) return known.entries
  const entries = readWorkspaces(reader).then((listed) => held.names.ofWorkspaces(listed))
  read.set(chains, { at: Date.now(), entries })
  entries.catch(() => read.delete(chains))
  return entries
}

/** After a change of them, or of what is known of them. */
export function forgetWorkspaces(held: HeldKeys): void {
  read.delete(held.reader().trust.chains)
}

/** With its key. @throws UntrustedKey, UntrustedChain, Refused `not_found`, `unreadable_workspace` */
export async function workspaceOf(
  held: HeldKeys,
  workspaceId: string,
): Promise<WorkspaceEntry & { open: OpenWorkspace }> {
  const found = (await workspacesOf(held)).find(({ id }) => id === workspaceId)
  if (found?.status !== 'active') throw new Refused('not_found')
  if (found.fault) throw found.fault
  if (!found.open) throw new Refused('unreadable_workspace')
  await found.newestChain()
  return { ...found, open: found.open }
}

/** For the acts of `client/actions`. @throws as `workspaceOf` */
export async function placeIn(held: HeldKeys, workspaceId: string): Promise<WorkspacePlace> {
  return { api: held.api, workspace: (await workspaceOf(held, workspaceId)).open }
}

export async function environmentAt(
  held: HeldKeys,
  { workspaceId, projectId, environment }: Place,
): Promise<EnvironmentPlace> {
  const place = await placeIn(held, workspaceId)
  held.names.demand(projectId)
  return { ...place, projectId, environment }
}
