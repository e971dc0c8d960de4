/** Projects and their environments, which are made without a key. */
import { createEnvironment, createProject } from '../../../../features/projects/contract.ts'
import type { Held } from '../held.ts'
import { workspaceOf } from '../places.ts'

/** @throws ApiError `already_exists`, UntrustedChain */
export async function create(
  held: Held,
  { workspaceId, name }: { workspaceId: string; name: string },
) {
  await workspaceOf(held, workspaceId)
  const { id } = await held.api.call(createProject, { body: { name, workspace_id: workspaceId } })
  return { id }
}

/** @throws ApiError `already_exists` */
export async function addEnvironment(
  held: Held,
  { projectId, name }: { projectId: string; name: string },
) {
  await held.api.call(createEnvironment, { params: { project_id: projectId }, body: { name } })
}
