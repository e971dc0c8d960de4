// tier: all
/** Names, people and keys that are others than this browser saw before: it says so, and does nothing until told. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { registerWithToken } from '../../src/client/agents/issuing.ts'
import { invite, readPerson, remove } from '../../src/client/members.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { openStage, PASSWORD, type Stage, type Visitor } from './browser.ts'
import { elsewhere } from './elsewhere.ts'
import { askWorker } from './worker_clock.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

async function unlock({ page }: Visitor): Promise<void> {
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Unlock' }).click()
}

async function make({ page }: Visitor, name: string): Promise<string> {
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByRole('button', { name: 'Make a workspace' }).click()
  const link = page.getByRole('list', { name: 'Yours' }).getByRole('link', { name, exact: true })
  return /\/w\/([^/]+)\//.exec((await link.getAttribute('href')) ?? '')?.[1] ?? ''
}

test('a workspace under the name of another is refused with both ids, until it is accepted', async () => {
  const ada = await stage.person('ada@example.com')
  const { page } = ada
  await ada.sees('Workspaces')
  const [acme, other] = [await make(ada, 'Acme'), await make(ada, 'Other')]
  const { sql } = stage.app.connection
  await sql`update workspaces set name = case id when ${acme} then 'Old' else 'Acme' end where id in (${acme}, ${other})`
  await page.reload()
  await unlock(ada)
  await page.getByText('The workspace Acme is not the one that had this name before.').waitFor()
  expect(await page.locator('dl.facts').first().textContent()).toContain(acme)
  expect(await page.locator('dl.facts').first().textContent()).toContain(other)
  await ada.judge()
  await page.goto(`${stage.origin}/console/w/${other}/members`)
  await unlock(ada)
  await page.getByText('changed_name').waitFor()
  // The other one has another name, and goes on.
  await page.goto(`${stage.origin}/console/w/${acme}/members`)
  await unlock(ada)
  await page.getByText('You are alone here.').waitFor()
  await page.getByRole('button', { name: 'It is the new one that I mean' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'It is the new one' }).click()
  await page.getByText('It stood for').waitFor({ state: 'detached' })
  await page.goto(`${stage.origin}/console/w/${other}/members`)
  await unlock(ada)
  await page.getByText('You are alone here.').waitFor()
  await ada.close()
})

test('a project under the name of another is not read, and nothing is stored in it', async () => {
  const bob = await stage.person('bob@example.com')
  const { page } = bob
  const { api, workspace } = await elsewhere(stage.app.controlPlane, 'bob@example.com')
  const [, side = ''] = await Promise.all(
    ['web', 'side'].map(async (name) => {
      const body = { name, workspace_id: workspace.id }
      return (await api.call(createProject, { body })).id
    }),
  )
  const { agent, id: tokenId } = await registerWithToken(
    { api, workspace },
    { name: 'bot', projectId: null },
    { environment: null, order: { label: 'bot', capabilities: ['use'] }, places: [] },
  )
  await page.goto(`${stage.origin}/console/w/${workspace.id}/secrets?project=web`)
  await unlock(bob)
  await page.getByText('side').first().waitFor()
  const { sql } = stage.app.connection
  await sql`update projects set name = 'was web' where name = 'web'`
  await sql`update projects set name = 'web' where name = 'side'`
  await page.reload()
  await unlock(bob)
  await page.getByText('The project web of Personal is not the one').waitFor()
  await bob.judge()
  // Keys for it are given in a list of places, of which each counts.
  const places = [{ projectId: side, environment: 'development' }]
  const given = { workspaceId: workspace.id, agentId: agent.id, tokenId, places }
  expect(await askWorker(page, 'grants.give', given)).toBe('changed_name')
  await page.getByRole('button', { name: /Project$/ }).click()
  await page.getByRole('option', { name: 'web', exact: true }).click()
  await page.getByText('when it was seen before, and the server shows').first().waitFor()
  await bob.close()
})

test('who came, went or has new keys while one was away is said, and a workspace that is met', async () => {
  const cyd = await stage.person('cyd@example.com')
  const { page } = cyd
  await page.getByText('Personal is new to this browser.').waitFor()
  await cyd.judge()
  await page.getByRole('button', { name: 'I have read it' }).click()
  await page.getByText('Personal is new to this browser.').waitFor({ state: 'detached' })
  await stage.person('dan@example.com').then((dan) => dan.close())
  const { api, workspace, chains } = await elsewhere(stage.app.controlPlane, 'cyd@example.com')
  const dan = await readPerson(api, 'dan@example.com')
  if (!dan) throw new Error('there is no such account')
  await invite({ api, workspace }, [dan], 'admin', new Set())
  await remove({ api, workspace }, 'dan@example.com', [])
  expect((await chains.of(workspace)).seq).toBe(3)
  await page.reload()
  await unlock(cyd)
  await page.getByText('people or their keys have changed since you looked').waitFor()
  await page.getByText('cyd@example.com: invited dan@example.com as admin').waitFor()
  await page.getByText('cyd@example.com: removed dan@example.com').waitFor()
  await cyd.judge()
  await cyd.close()
})

test('a workspace that the server hides keeps the keys of the account from being replaced', async () => {
  const eve = await stage.person('eve@example.com')
  const { page } = eve
  await eve.sees('Workspaces')
  const id = await make(eve, 'Secret')
  await page.getByRole('link', { name: 'Secret', exact: true }).waitFor()
  const { sql } = stage.app.connection
  const hidden = await sql`delete from memberships where workspace_id = ${id} returning *`
  expect(hidden).toHaveLength(1)
  await page.reload()
  await unlock(eve)
  await page.getByText(`You were a member of Secret (${id})`).waitFor()
  await page.goto(`${stage.origin}/console/account`)
  await unlock(eve)
  await page.getByRole('button', { name: 'Replace my keys' }).click()
  await page.getByText('hidden_workspace').first().waitFor()
  await page.goto(`${stage.origin}/console/`)
  await unlock(eve)
  await page.getByRole('button', { name: 'I left it, was removed' }).click()
  await page.getByText('You were a member of Secret').waitFor({ state: 'detached' })
  await eve.judge()
  await eve.close()
})
