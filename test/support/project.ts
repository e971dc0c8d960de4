/** A shared workspace with a project, and values sealed the way a client seals them. */

import { toBase64, utf8 } from '../../src/core/crypto/encoding.ts'
import { environmentKey, sealSecretValue } from '../../src/core/crypto/secret_value.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import type { TestApp } from './app.ts'
import { openTeam, type Team } from './teams.ts'

type Sealing = { environment?: string; policy?: unknown; epoch?: number }

export type ProjectTeam = Team & {
  projectId: string
  addProject(name: string): Promise<string>
  /** A value of the first project under `key`, as base64. */
  seal(key: string, text: string, sealing?: Sealing): string
}

export async function openProject(app: TestApp): Promise<ProjectTeam> {
  const team = await openTeam(app)
  const addProject = async (name: string) => {
    const body = { name, workspace_id: team.workspaceId }
    return (await team.owner.api.call(createProject, { body })).id
  }
  const projectId = await addProject('api')
  const seal = (
    key: string,
    text: string,
    { environment = 'development', policy = null, epoch = 1 }: Sealing = {},
  ) => {
    const environmentSecret = environmentKey(team.workspaceKey, projectId, environment, epoch)
    const place = { projectId, environment, key }
    return toBase64(sealSecretValue(environmentSecret, place, policy, epoch, utf8(text)))
  }
  return { ...team, projectId, addProject, seal }
}
