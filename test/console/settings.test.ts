// tier: all
/** Settings of a workspace: its name, its fingerprint, a rekey, leaving and deleting it. */
import { expect } from 'bun:test'
import { invitePeople, readPerson } from '../../src/client/actions/members.ts'
import { requires } from '../support/requires.ts'
import { openStage, PASSWORD, type Stage } from './browser.ts'
import { elsewhere, joined, shared } from './elsewhere.ts'
import { createWorkspace, workspaceLink } from './workspace_screens.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('an owner renames a workspace, reads its fingerprint, and deletes it after typing its name', async () => {
  const ada = await stage.person('ada')
  const { page } = ada
  const id = await createWorkspace(ada, 'Acme')
  await page.goto(`${stage.origin}/console/w/${id}/settings`)
  await page.locator('[data-fingerprint]').waitFor()
  expect(await page.locator('[data-fingerprint]').innerText()).toMatch(/^([\da-f]{4} ?){16}$/)
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByLabel('Workspace name').fill('Acme Ltd')
  await page.keyboard.press('Enter')
  await page.getByText('Renamed to Acme Ltd.').waitFor()
  await page.getByRole('button', { name: 'Workspace: Acme Ltd' }).waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Delete workspace' }).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByText('You lose 0 agents and 0 projects. You can’t undo this.').waitFor()
  await ada.judge()
  const remove = dialog.getByRole('button', { name: 'Delete workspace' })
  expect(await remove.isDisabled()).toBe(true)
  await dialog.getByLabel('Type Acme Ltd to confirm').fill('Acme Ltd')
  await remove.click()
  await page.waitForURL(/\/overview$/)
  await page.goto(`${stage.origin}/console/workspaces`)
  await workspaceLink(page, 'Personal').waitFor()
  expect(await workspaceLink(page, 'Acme Ltd').count()).toBe(0)
  await ada.close()
})

test('a read-only member sees the settings without their actions, and leaves the workspace', async () => {
  const [ada, bob] = [await stage.person('amy'), await stage.person('bob')]
  const cp = stage.app.controlPlane
  const id = await shared(cp, ada.email, 'Crew')
  await joined(cp, 'Crew', ada.email, bob.email, 'read_only')
  const { page } = bob
  await page.goto(`${stage.origin}/console/w/${id}/settings`)
  await page.getByText('Read only').waitFor()
  await page.locator('[data-fingerprint]').waitFor()
  const actions = page.getByRole('main').getByRole('button', { name: /Rename|Rekey|Add|Delete/ })
  expect(await actions.count()).toBe(0)
  await bob.judge()
  await page.getByRole('button', { name: 'Leave workspace' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Leave', exact: true }).click()
  await page.getByText('You left Crew.').waitFor()
  await page.goto(`${stage.origin}/console/workspaces`)
  await workspaceLink(page, 'Personal').waitFor()
  expect(await workspaceLink(page, 'Crew').count()).toBe(0)
  await Promise.all([ada.close(), bob.close()])
})

test('an invitation on the list of workspaces is reviewed and declined', async () => {
  const [ada, bob] = [await stage.person('ann'), await stage.person('ben')]
  const cp = stage.app.controlPlane
  await shared(cp, ada.email, 'Guild')
  await inviteOnly(ada.email, bob.email)
  const { page } = bob
  await page.goto(`${stage.origin}/console/workspaces`)
  await page.getByRole('link', { name: 'Review the invitation to Guild' }).click()
  await page.getByText('Join Guild').waitFor()
  await page.getByText('You came without a link.').waitFor()
  expect(await page.locator('[data-fingerprint]').count()).toBe(2)
  await bob.judge()
  await page.getByRole('button', { name: 'Decline' }).click()
  await bob.sees('Workspaces')
  await page.getByRole('link', { name: 'Review' }).waitFor({ state: 'detached' })
  await bob.judge()
  await Promise.all([ada.close(), bob.close()])
})

async function inviteOnly(by: string, email: string) {
  const place = await elsewhere(stage.app.controlPlane, by, PASSWORD, 'Guild')
  const person = await readPerson(place.api, email)
  if (!person) throw new Error(`${email} has no account`)
  await invitePeople(place, [person], 'member', new Set())
}
