/** Workspaces as they are shown: what their chains say of them, and nothing of their keys. */
import { listProjects } from '../../../../features/projects/contract.ts'
import { isSignedId } from '../../../../sigchain/index.ts'
import type { Held } from '../held.ts'
import { workspacesOf } from '../places.ts'

/** `fault` says why one is not used: its key, or its chain, is not what was signed or seen before. */
export async function list(held: Held, _: null) {
  const entries = await workspacesOf(held)
  return entries.map(({ id, name, type, status, role, epoch, shown, fault }) => ({
    id,
    name,
    type,
    status,
    role,
    epoch,
    isSigned: isSignedId(id),
    isReadable: shown !== null,
    fault: fault?.message ?? null,
  }))
}

export async function projects(held: Held, { workspaceId }: { workspaceId: string }) {
  return held.api.list(listProjects, { query: { workspace_id: workspaceId } })
}
