// tier: quick
/** Case 90: wherever an agent or a token is named, names that imitate a person or another name are rejected. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { objectionToActorName } from '../../../src/core/names/actor_name.ts'
import { skeletonOf } from '../../../src/core/names/look_alike.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'

let app: TestApp
let team: ProjectTeam
let agentId: string

beforeAll(async () => {
  app = await sharedApp()
  team = await openProject(app)
  const made = await post(`/api/workspaces/${team.workspaceId}/agents/`, { name: 'bot' })
  agentId = (made.body as { data: { agent: { id: string } } }).data.agent.id
})
afterAll(() => app.stop())

const post = (path: string, body: object) =>
  app.call('POST', path, { token: team.owner.token, body })

const REFUSED: [name: string, objection: string][] = [
  ['ada@example.com', 'not look like an email address'],
  ['Ada <ADA@Example.com>', 'not look like an email address'],
  ['ada\uff20example.com', 'not look like an email address'],
  ['ada@example\uff0ecom', 'not look like an email address'],
  ['d\u0435ploy-bot', 'not mix Latin, Cyrillic and Greek letters'],
  ['depl\u03bfy-bot', 'not mix Latin, Cyrillic and Greek letters'],
  ['\uff44eploy-bot', 'use plain letters and digits'],
  ['caf\u0065\u0301', 'use plain letters and digits'],
  ['bot\u00b2', 'use plain letters and digits'],
]
const ACCEPTED = [
  'deploy-bot',
  'CI @ main',
  'caf\u00e9',
  '\u0431\u043e\u0442 1',
  'bot@prod',
  '\u65e5\u672c bot',
  'Bot\u2122 \u{1f916}',
]

/** Every endpoint with such a name, and its field. */
const places = (): [path: string, field: string, more: object][] => [
  [`/api/workspaces/${team.workspaceId}/agents/`, 'name', {}],
  [`/api/workspaces/${team.workspaceId}/agents/`, 'label', { name: 'other' }],
  [`/api/workspaces/${team.workspaceId}/projects/${team.projectId}/agents/`, 'name', {}],
  [`/api/workspaces/${team.workspaceId}/agents/${agentId}/tokens/`, 'label', {}],
  [`/api/projects/${team.projectId}/workload-tokens/`, 'label', { environment: 'production' }],
]

test.each(REFUSED)('the name %j is rejected at every endpoint', async (name, objection) => {
  expect(objectionToActorName(name)).toBe(objection)
  for (const [path, field, more] of places()) {
    const { status, body } = await post(path, { ...more, [field]: name })
    expect({ path, status, body }).toMatchObject({
      path,
      status: 422,
      body: {
        error_code: 'validation_error',
        fields: [{ path: field, message: `must ${objection}` }],
      },
    })
  }
})

test.each(ACCEPTED)('the name %j is accepted', async (name) => {
  expect(objectionToActorName(name)).toBeNull()
  const made = await post(`/api/workspaces/${team.workspaceId}/agents/`, { name })
  expect(made.status).toBe(201)
})

const LOOK_ALIKES: [existing: string, name: string][] = [
  ['deploy-bot', 'Deploy-Bot'],
  ['deploy-bot', 'deploy_bot'],
  ['deploy-bot', 'deploy.bot'],
  ['deploy-bot', 'deploy\u2010bot'],
  ['deploy-bot', 'dep1oy-b0t'],
  ['billing', 'bi11ing'],
  ['billing', 'bIllIng'],
  ['modern', 'modem'],
  ['worker', 'vvorker'],
  ['coco', '\u0441\u043e\u0441\u043e'],
  ['BOT', '\u0412\u041e\u0422'],
]
const DISTINCT: [name: string, other: string][] = [
  ['deploy-bot', 'deploybot'],
  ['ci-1', 'ci-2'],
  ['bot-0', 'bot-1'],
  ['caf\u00e9', 'cafe'],
  ['ci 10', 'ci 100'],
]

test.each(LOOK_ALIKES)(
  'beside %j, the look-alike %j is rejected in the whole workspace',
  async (existing, name) => {
    const { workspaceId, projectId, owner } = await openProject(app)
    const ask = (path: string, body: object) =>
      app.call('POST', `/api/workspaces/${workspaceId}/${path}`, { token: owner.token, body })
    expect((await ask(`projects/${projectId}/agents/`, { name: existing })).status).toBe(201)
    const refused = await ask('agents/', { name })
    expect([refused.status, refused.body]).toMatchObject([
      409,
      {
        error_code: 'already_exists',
        message: `The name looks like the existing agent "${existing}". Choose a clearly different name.`,
      },
    ])
    const listed = await app.call('GET', `/api/workspaces/${workspaceId}/agents/`, owner)
    expect((listed.body as { data: unknown[] }).data).toHaveLength(1)
  },
)

test.each(DISTINCT)('%j and %j are not look-alikes', (name, other) => {
  expect(skeletonOf(name)).not.toBe(skeletonOf(other))
})

test('a name that looks like one of a deleted agent, or of another workspace, is accepted', async () => {
  const [here, elsewhere] = [await openProject(app), await openProject(app)]
  const ask = (path: string, { workspaceId, owner }: ProjectTeam, method: string, body?: object) =>
    app.call(method, `/api/workspaces/${workspaceId}/agents/${path}`, {
      token: owner.token,
      ...(body && { body }),
    })
  const made = await ask('', here, 'POST', { name: 'deploy-bot' })
  expect((await ask('', elsewhere, 'POST', { name: 'deploy_bot' })).status).toBe(201)
  const { id } = (made.body as { data: { agent: { id: string } } }).data.agent
  expect((await ask(`${id}/`, here, 'DELETE', {})).status).toBe(200)
  expect((await ask('', here, 'POST', { name: 'deploy_bot' })).status).toBe(201)
})
