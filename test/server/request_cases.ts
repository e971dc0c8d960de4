/** Requests whose costs depend on what is stored: an environment of a hundred secrets, plain and signed, and calls. */
import { listSecrets, upsertSecrets } from '../../src/features/secrets/contract.ts'
import { createAgentWithToken, type Stage } from '../support/agent.ts'
import { openProject } from '../support/project.ts'
import { manifestOf, signedProject } from '../support/statements.ts'

export type Call = {
  method: string
  url: string
  token: string
  headers?: Record<string, string> | undefined
  body: unknown
}

/** Prepares its data once, and then each request. */
type Case = (stage: Stage) => Promise<() => Promise<Call> | Call>

const COUNT = 100
const VALUE = 'a value of thirty-two characters'
const NAMES = Array.from({ length: COUNT }, (_, index) => `KEY_${index}`)
const LAST = `KEY_${COUNT - 1}`
const environment = 'development'

export const cases: Record<string, Case> = {
  'secrets.get, among 100': async (stage) => {
    const { projectId, owner } = await openFull(stage)
    return () => callOf(stage, 'GET', `/api/secrets/${projectId}/${LAST}/`, owner.token)
  },
  'secrets.list, 100 names': (stage) => listing(stage, ''),
  'secrets.list, 100 values': (stage) => listing(stage, '&include=value'),
  'secrets.upsert, create, among 100': async (stage) => {
    let created = 0
    return await writing(stage, () => `NEW_${++created}`)
  },
  'secrets.upsert, update, among 100': (stage) => writing(stage, () => LAST),
  'secrets.upsert, update, among 100, signed': async (stage) => {
    const project = await signedProject(stage.app)
    const { projectId: project_id, owner, seal } = project
    let [values, revision] = [{} as Record<string, string>, 0]
    const write = async (names: readonly string[]) => {
      const secrets = Object.fromEntries(names.map((name) => [name, seal(name, VALUE)]))
      values = { ...values, ...secrets }
      revision += 1
      return { project_id, secrets, manifest: await manifestOf(project, values, revision) }
    }
    await owner.api.call(upsertSecrets, { body: await write(NAMES) })
    return async () => callOf(stage, 'POST', upsertSecrets.path, owner.token, await write([LAST]))
  },
  'workloads.env, 100 secrets': async (stage) => {
    const secrets = Object.fromEntries(NAMES.map((name) => [name, VALUE]))
    const agent = await createAgentWithToken(stage, { secrets, capabilities: ['use', 'read'] })
    const body = { project_id: agent.projectId, environment }
    return () => callOf(stage, 'POST', '/api/workloads/env/', agent.token, body)
  },
  'resolver.resolve, allowed': async (stage) => {
    const { token, projectId } = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
    const headers = { authorization: 'Bearer {{KEY}}' }
    const body = { target_url: stage.url('/'), project_id: projectId, environment, headers }
    return () => ({
      ...callOf(stage, 'POST', '', token, body),
      url: `${stage.app.resolver}/v1/resolve`,
    })
  },
}

function callOf(stage: Stage, method: string, path: string, token: string, body?: unknown): Call {
  return { method, url: `${stage.app.controlPlane}${path}`, token, body }
}

async function openFull({ app }: Stage) {
  const team = await openProject(app)
  const secrets = NAMES.map((key) => ({ key, value: team.seal(key, VALUE) }))
  await team.owner.api.call(upsertSecrets, { body: { project_id: team.projectId, secrets } })
  return team
}

async function listing(stage: Stage, more: string) {
  const { projectId, owner } = await openFull(stage)
  const path = listSecrets.path.replace('{project_id}', projectId)
  return () =>
    callOf(stage, 'GET', `${path}?environment=${environment}&limit=${COUNT}${more}`, owner.token)
}

async function writing(stage: Stage, nameNext: () => string) {
  const { projectId, owner, seal } = await openFull(stage)
  return () => {
    const key = nameNext()
    const body = { project_id: projectId, environment, secrets: [{ key, value: seal(key, VALUE) }] }
    return callOf(stage, 'POST', upsertSecrets.path, owner.token, body)
  }
}
