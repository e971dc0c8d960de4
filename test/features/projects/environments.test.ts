// tier: quick
/** Environments are created before they have secrets, and deleted with all of them. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  issueAgentToken,
  issueWorkloadToken,
  listWorkloadTokens,
  registerAgent,
} from '../../../src/features/agents/contract.ts'
import {
  createEnvironment,
  deleteEnvironment,
  deleteProject,
  listEnvironments,
  restoreProject,
  showCoverage,
} from '../../../src/features/projects/contract.ts'
import { restoreSecretsEndpoint, upsertSecrets } from '../../../src/features/secrets/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { expectFailure, expectRefusal } from '../../support/failure.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'

let app: TestApp
let team: ProjectTeam

beforeAll(async () => {
  app = await sharedApp()
})
beforeEach(async () => {
  team = await openProject(app)
})

const params = () => ({ project_id: team.projectId })
const path = (name = '') => `/api/projects/${team.projectId}/environments/${name && `${name}/`}`
const create = (name: string) =>
  team.owner.api.call(createEnvironment, { params: params(), body: { name } })
const remove = (environment: string) =>
  team.owner.api.call(deleteEnvironment, { params: { ...params(), environment } })
const names = async () => {
  const { environments } = await team.owner.api.call(listEnvironments, { params: params() })
  return Object.entries(environments).map(([name, { secret_count }]) => `${name} ${secret_count}`)
}
const store = (environment: string, key: string, more = {}) => {
  const secrets = [{ key, value: team.seal(key, 'x', { environment }) }]
  const body = { ...params(), environment, secrets, ...more }
  return team.owner.api.call(upsertSecrets, { body })
}
const USUAL = ['development 0', 'staging 0', 'production 0']

describe('a created environment', () => {
  test('a created environment is listed, and stays without secrets', async () => {
    expect(await create('preview')).toEqual({ name: 'preview' })
    expect(await names()).toEqual([...USUAL, 'preview 0'])
    const { environments } = await team.owner.api.call(showCoverage, { params: params() })
    expect(environments).toContain('preview')
    expect((await recordedChanges(app, team.workspaceId)).at(-1)).toBe(
      'environment.created preview',
    )
  })

  test('a created environment gets its first secret without being created again', async () => {
    await create('preview')
    const body = { create_environment: false }
    expect(await store('preview', 'KEY', body)).toEqual({ created: 1, updated: 0 })
    expect(await names()).toContain('preview 1')
    const secrets = [{ key: 'KEY', value: team.seal('KEY', 'x', { environment: 'privew' }) }]
    const mistyped = { ...params(), environment: 'privew', secrets, ...body }
    const { token } = team.owner
    expectFailure(await app.call('POST', '/api/secrets/', { token, body: mistyped }), 'not_found', {
      message: 'This environment is empty.',
    })
  })

  test('an existing environment cannot be created', async () => {
    await create('preview')
    await store('live', 'KEY')
    const { token } = team.owner
    const message = 'The project already has an environment with this name.'
    for (const name of ['preview', 'live', 'production']) {
      const call = ['POST', path(), { token, body: { name } }] as const
      await expectRefusal(app, [...call], 'already_exists', { message })
    }
    expect((await app.call('POST', path(), { token, body: { name: 'No' } })).status).toBe(422)
  })

  test('a created environment is restored with its project', async () => {
    await create('preview')
    await team.owner.api.call(deleteProject, {
      params: { workspace_id: team.workspaceId, project_name: 'api' },
    })
    await team.owner.api.call(restoreProject, { params: params() })
    expect(await names()).toContain('preview 0')
  })
})

describe('a deleted environment', () => {
  test('a deleted environment loses its secrets, which can be restored, and other environments keep theirs', async () => {
    await create('preview')
    await store('preview', 'ONE')
    await store('preview', 'TWO')
    await store('staging', 'ONE')
    expect(await remove('preview')).toEqual({ secrets: 2, tokens: 0 })
    expect(await names()).toEqual(['development 0', 'staging 1', 'production 0'])
    expect((await recordedChanges(app, team.workspaceId)).at(-1)).toBe(
      'environment.deleted preview',
    )
    await team.owner.api.call(restoreSecretsEndpoint, {
      params: params(),
      body: { environment: 'preview', keys: ['ONE', 'TWO'] },
    })
    expect(await names()).toContain('preview 2')
    const { token } = team.owner
    await expectRefusal(app, ['DELETE', path('nothing-here'), { token }], 'not_found')
  })

  test('a deleted environment loses its own tokens and all grants for it, and no others', async () => {
    await store('preview', 'ONE')
    const api = team.owner.api
    for (const environment of ['preview', 'staging']) {
      await api.call(issueWorkloadToken, {
        params: params(),
        body: { label: environment, environment },
      })
    }
    const inWorkspace = { workspace_id: team.workspaceId }
    const { agent } = await api.call(registerAgent, {
      params: inWorkspace,
      body: { name: 'bot', environment: 'preview' },
    })
    await api.call(issueAgentToken, {
      params: { ...inWorkspace, registration_id: agent.id },
      body: { label: 'second' },
    })
    await app.connection.sql`
      insert into token_envelopes (token_id, workspace_id, project_id, environment, epoch, envelope)
      select id, workspace_id, ${team.projectId}, place, 1, '\\x00'
      from tokens, unnest(array['preview', 'staging']) place where agent_id = ${agent.id}`
    expect(await remove('preview')).toEqual({ secrets: 1, tokens: 1 })
    const tokens = await api.call(listWorkloadTokens, { params: params() })
    expect(tokens.map(({ label, status }) => [label, status])).toEqual([
      ['preview', 'revoked'],
      ['staging', 'active'],
    ])
    const left = await app.connection.sql`
      select e.environment from token_envelopes e join tokens t on t.id = e.token_id
      where t.agent_id = ${agent.id}`
    expect(left.map(({ environment }) => environment)).toEqual(['staging', 'staging'])
    expect(await recordedChanges(app, team.workspaceId)).toContain('token.revoked preview')
  })
})
