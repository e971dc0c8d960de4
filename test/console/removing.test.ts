// tier: all
/** Deletes projects and environments in a real browser, with the tokens that end with them. */
import { expect } from 'bun:test'
import {
  removeEnvironment,
  removeProject,
  type TokenEnding,
} from '../../src/client/actions/end_tokens.ts'
import { issueToWorkload, registerWithToken } from '../../src/client/actions/issue_token.ts'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { verifyWorkspace } from '../../src/client/signed/verified_workspace.ts'
import {
  createEnvironment,
  createProject,
  listProjects,
} from '../../src/features/projects/contract.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openStage, type Person, type Stage } from './browser.ts'
import { elsewhere, joined, shared } from './elsewhere.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage
let ada: Person
let page: Person['page']
let there: Awaited<ReturnType<typeof elsewhere>>

beforeAll(async () => {
  stage = await openStage()
  const { controlPlane: server } = stage.app
  ada = await stage.person('ada')
  await shared(server, ada.email, 'Acme')
  there = await elsewhere(server, ada.email, undefined, 'Acme')
  page = ada.page
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

/** With a secret in two environments. */
async function project(name: string, { api, workspace } = there) {
  const body = { name, workspace_id: workspace.id }
  const { id: projectId } = await api.call(createProject, { body })
  for (const environment of ['development', 'production']) {
    const entry = { key: 'KEY', value: marked(environment), policy: undefined }
    await uploadSecrets({ api, workspace, projectId, environment }, [entry], true)
  }
  return projectId
}

async function withTokens(projectId: string, name: string) {
  const environment = 'production'
  const places = [{ projectId, environment }]
  const agent = await registerWithToken(
    there,
    { name, projectId },
    { environment, order: {}, places },
  )
  const ci = await issueToWorkload(there, { projectId, environment }, { label: `${name}-ci` })
  return [agent.id, ci.id]
}

const projects = () => there.api.list(listProjects, { query: { workspace_id: there.workspace.id } })

/** The tokens that links revoked, read again. What the server shows must match what was signed. */
async function endedByLinks() {
  const { api, workspace } = there
  await there.chains.readNewerLinks(workspace)
  const { chain, differences } = await verifyWorkspace(api, workspace, there.chains)
  expect(differences).toEqual([])
  return [...chain.revokedTokens.keys()]
}

const by = (): TokenEnding => ({
  api: there.api,
  workspace: there.workspace,
  unsigned: () => {},
})
const dialog = () => page.locator('[data-dialog]')
const said = (text: string) => page.locator('[data-toast]').getByText(text).first().waitFor()
const answer = () =>
  dialog()
    .getByRole('button', { name: /^Delete/ })
    .click()

async function more(choice: string) {
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: choice }).click()
  await dialog().waitFor()
}

async function choose(of: string, option: string) {
  await page.getByRole('button', { name: new RegExp(`${of}$`) }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

test('deleting an environment deletes its secrets and revokes its tokens with a signed link', async () => {
  const billing = await project('billing')
  await project('other')
  const tokens = await withTokens(billing, 'bot')
  await page.goto(`${stage.origin}/console/w/${there.workspace.id}/secrets`)
  await more('Delete environment…')
  await choose('Environment', 'production')
  await dialog().getByText('Deletes production with 1 secret').waitFor()
  await dialog().getByText('Revokes these tokens: bot-ci, default (bot).').waitFor()
  await ada.judge()
  await answer()
  await said('production deleted.')
  await page.getByRole('button', { name: /^KEY in production: Missing/ }).waitFor()
  expect(await endedByLinks()).toEqual(expect.arrayContaining(tokens))
})

test('deleting a project needs its name typed, and can be repeated after the server was unavailable', async () => {
  const [billing] = await projects()
  const tokens = await withTokens(billing?.id ?? '', 'late')
  await more('Delete project…')
  await dialog().getByText('Deletes 1 secret').waitFor()
  await dialog().getByText('Deletes these agents: bot, late.').waitFor()
  await dialog().getByText('Revokes these tokens: late-ci, default (late).').waitFor()
  const verb = dialog().getByRole('button', { name: 'Delete project' })
  expect(await verb.isDisabled()).toBe(true)
  await dialog().getByRole('textbox').fill('billing')
  await ada.judge()
  const asked = (url: URL) => url.pathname === `/api/projects/${billing?.id}/`
  await page.route(asked, (route) => route.abort())
  await answer()
  await dialog().getByText('The server became unavailable before the deletion finished.').waitFor()
  await page.unroute(asked)
  await answer()
  await said('billing deleted.')
  await dialog().waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Project: other' }).waitFor()
  expect(await endedByLinks()).toEqual(expect.arrayContaining(tokens))
})

test('something that another client has deleted meanwhile is reported as gone', async () => {
  const [other] = await projects()
  const projectId = other?.id ?? ''
  const body = { name: 'canary' }
  await there.api.call(createEnvironment, { params: { project_id: projectId }, body })
  await more('Delete environment…')
  await choose('Environment', 'canary')
  await removeEnvironment(by(), { projectId, environment: 'canary' })
  await answer()
  await said('canary was already deleted by someone else.')
  await more('Delete project…')
  await dialog().getByRole('textbox').fill('other')
  await removeProject(by(), projectId)
  await answer()
  await said('other was already deleted by someone else.')
  await page.getByText('Create a project to add secrets.').waitFor()
  await endedByLinks()
})

test('an unsigned workspace deletes a project, too, and members without the right get no such command', async () => {
  const { controlPlane: server } = stage.app
  const id = await shared(server, ada.email, 'Loose', false)
  await project('loose', await elsewhere(server, ada.email, undefined, 'Loose'))
  await project('kept')
  const bob = await stage.person('bob')
  await joined(server, 'Acme', ada.email, bob.email, 'member')
  await bob.page.goto(`${stage.origin}/console/w/${there.workspace.id}/secrets`)
  await bob.page.getByRole('button', { name: 'More', exact: true }).click()
  await bob.page.getByRole('menuitem', { name: 'New environment' }).waitFor()
  expect(await bob.page.getByRole('menuitem', { name: /^Delete / }).count()).toBe(0)
  await bob.close()
  await page.goto(`${stage.origin}/console/w/${id}/secrets`)
  await more('Delete project…')
  await dialog().getByText('No tokens are revoked.').waitFor()
  await dialog().getByRole('textbox').fill('loose')
  await answer()
  await page.getByText('Create a project to add secrets.').waitFor()
})
