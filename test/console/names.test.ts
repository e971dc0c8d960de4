// tier: all
/** Names, people and keys that changed since this browser saw them: it reports them, and waits for an answer. */
import { expect } from 'bun:test'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import { invitePeople, readPerson, removePerson } from '../../src/client/actions/members.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { requires } from '../support/requires.ts'
import { openStage, type Stage } from './browser.ts'
import { elsewhere } from './elsewhere.ts'
import { askWorker } from './worker_clock.ts'
import { createWorkspace } from './workspace_screens.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('a workspace under the name of another one is refused with both ids until someone accepts it', async () => {
  const ada = await stage.person('ada')
  const { page } = ada
  const [acme, other] = [await createWorkspace(ada, 'Acme'), await createWorkspace(ada, 'Other')]
  const { sql } = stage.app.connection
  await sql`update workspaces set name = case id when ${acme} then 'Old' else 'Acme' end where id in (${acme}, ${other})`
  await page.reload()
  const strip = page.getByRole('alert').filter({ hasText: 'Acme is a different workspace than' })
  await strip.waitFor()
  await ada.judge()
  await page.goto(`${stage.origin}/console/w/${other}/members`)
  await page.getByText('Review the blocked name above.').waitFor()
  // The other workspace has another name, and stays usable.
  await page.goto(`${stage.origin}/console/w/${acme}/members`)
  await page.getByText('You’re the only member.').waitFor()
  await strip.getByRole('button', { name: 'Review…' }).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByText(acme).waitFor()
  await dialog.getByText(other).waitFor()
  await ada.judge()
  await dialog.getByRole('button', { name: 'Use the new one' }).click()
  await strip.waitFor({ state: 'detached' })
  await page.goto(`${stage.origin}/console/w/${other}/members`)
  await page.getByText('You’re the only member.').waitFor()
  await ada.close()
})

test('a project under the name of another one is not read, and nothing is stored in it', async () => {
  const bob = await stage.person('bob')
  const { page } = bob
  const { api, workspace } = await elsewhere(stage.app.controlPlane, bob.email)
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
  await page.getByText('side').first().waitFor()
  const { sql } = stage.app.connection
  await sql`update projects set name = 'was web'
    where name = 'web' and workspace_id = ${workspace.id}`
  await sql`update projects set name = 'web'
    where name = 'side' and workspace_id = ${workspace.id}`
  await page.reload()
  await page.getByText('web in Personal is a different project than before.').waitFor()
  await bob.judge()
  // Keys for it are given in a list of places, of which each counts.
  const places = [{ projectId: side, environment: 'development' }]
  const given = { workspaceId: workspace.id, agentId: agent.id, tokenId, places }
  expect(await askWorker(page, 'agents.give', given)).toBe('changed_name')
  await page.getByRole('button', { name: /^Project: / }).click()
  await page.getByRole('menuitemradio', { name: 'web', exact: true }).click()
  await page.getByText('This name now belongs to something else.').first().waitFor()
  await bob.close()
})

test('the console reports members who joined or left since the last visit, and a new workspace', async () => {
  const cyd = await stage.person('cyd')
  const { page } = cyd
  await page.goto(`${stage.origin}/console/workspaces`)
  await page.getByText('Personal is new to this browser.').waitFor()
  await cyd.judge()
  await page.getByRole('button', { name: 'Got it' }).click()
  await page.getByText('Personal is new to this browser.').waitFor({ state: 'detached' })
  const dan = await stage.person('dan')
  await dan.close()
  // An open page may ask again between the two changes, and would then report each by itself.
  await page.goto('about:blank')
  const { api, workspace, chains } = await elsewhere(stage.app.controlPlane, cyd.email)
  const invited = await readPerson(api, dan.email)
  if (!invited) throw new Error('there is no such account')
  await invitePeople({ api, workspace }, [invited], 'admin', new Set())
  await removePerson({ api, workspace }, dan.email, [])
  expect((await chains.of(workspace)).seq).toBe(3)
  await page.goto(`${stage.origin}/console/workspaces`)
  await page.getByText('Members of Personal changed since your last visit.').waitFor()
  await page.getByText('Show 2 changes').click()
  await page.getByText(`${cyd.email}: invited ${dan.email} as an admin`).waitFor()
  await page.getByText(`${cyd.email}: removed ${dan.email}`).waitFor()
  await cyd.judge()
  await cyd.close()
})

test('a workspace that the server hides blocks the replacement of account keys', async () => {
  const eve = await stage.person('eve')
  const { page } = eve
  const id = await createWorkspace(eve, 'Secret')
  const { sql } = stage.app.connection
  const hidden = await sql`delete from memberships where workspace_id = ${id} returning *`
  expect(hidden).toHaveLength(1)
  await page.reload()
  await page.getByText('The server no longer lists Secret.').waitFor()
  await page.getByText('Details').click()
  await page.getByText(id).waitFor()
  await page.goto(`${stage.origin}/console/account`)
  await page.getByRole('button', { name: 'Replace keys' }).click()
  await page.getByText('The server hides a workspace you were a member of.').first().waitFor()
  await page.goto(`${stage.origin}/console/workspaces`)
  await page.getByRole('button', { name: 'I left it' }).click()
  await page.getByText('The server no longer lists Secret.').waitFor({ state: 'detached' })
  await eve.judge()
  await eve.close()
})
