// tier: all
/** Agents and their tokens in a real browser: created, limited, given keys, revoked, and seen by other roles. */
import { expect } from 'bun:test'
import { giveKeys } from '../../src/client/actions/grant.ts'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import type { Api } from '../../src/client/http/api.ts'
import { listAgentTokens } from '../../src/features/agents/contract.ts'
import { createEnvironment } from '../../src/features/projects/contract.ts'
import { requires } from '../support/requires.ts'
import { openEmployer } from './employer.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const RESOLVER = 'https://resolver.example.com'

let employer: Awaited<ReturnType<typeof openEmployer>>
let token = ''

beforeAll(async () => {
  employer = await openEmployer('agents', { SERVICE_RESOLVER_URL: RESOLVER })
})
afterAll(async () => {
  await employer.ada.close()
  await employer.stage.close()
})

const row = (name: string | RegExp) => employer.page.getByRole('row', { name })
const inspector = (name: string) => employer.page.getByRole('region', { name, exact: true })

/** Chooses another word of the sentence. */
async function say(word: string, choice: string) {
  const { page } = employer
  await page.getByRole('button', { name: new RegExp(`^${word}: `) }).click()
  await page.getByRole('menuitemradio', { name: choice, exact: true }).click()
}

/** Chooses from the menu of a token in the inspector. */
async function choose(label: string, choice: string) {
  await employer.button(`Actions for ${label}`).click()
  await employer.page.getByRole('menuitem', { name: choice, exact: true }).click()
}

test('the sheet states what a new token can do, creates it in four clicks, and shows it once', async () => {
  const { ada, page, button, label } = employer
  await ada.sees('Agents')
  await page.getByText('Agents use your secrets without seeing them.').waitFor()
  await ada.judge()
  await page.keyboard.press('n')
  const sentence = inspector('Permissions of this token')
  await sentence.getByText('This agent').waitFor()
  await button('Create token').click()
  await page.getByText('Name: this field is required.').waitFor()
  await label('Name').fill('deploy-bot')
  await say('Environment', 'production')
  await sentence.getByText('It can’t read values.').waitFor()
  const said = (await sentence.innerText()).replaceAll(/\s+/g, ' ')
  expect(said).toStartWith('deploy-bot can use secrets of billing / production for 90 days')
  await ada.judge()
  await button('Create token').click()
  await page.getByRole('heading', { name: 'Copy your token' }).waitFor()
  await page.getByText('Copy this token now. You won’t be able to see it again.').waitFor()
  await ada.judge()
  expect(await page.content()).not.toContain('svc_agt_')
  await page.getByText(`export SERVICE_RESOLVER_URL=${RESOLVER}`).waitFor()
  await page
    .getByText('token issue deploy-bot -p billing -e production --label claude-code --save')
    .waitFor()
  await button('Show token').click()
  token = await page.locator('[data-secret-value]').innerText()
  expect(token).toStartWith('svc_agt_')
  for (const program of ['Cursor', 'curl', 'SDKs', 'GitHub Actions', 'GitLab CI']) {
    await employer.choose('Set up', program)
    await page.locator('pre').first().waitFor()
    expect(await page.locator('pre').allInnerTexts()).not.toContain(token)
  }
  await button('Hide token').click()
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Copy your token' }).waitFor()
  await button('Done').click()
  await row(/deploy-bot/).waitFor()
  expect(await row(/deploy-bot/).innerText()).toContain('Active')
  await ada.judge()
  expect(await page.content()).not.toContain(token)
})

test('the sheet warns that a CI token reads values, and the palette revokes that token', async () => {
  const { ada, page, button, label, area, answer, command } = employer
  await area('Allowed hosts')
  await command('New agent')
  await page.getByText('Container or CI job', { exact: true }).click()
  await label('Name').fill('nightly')
  await say('Environment', 'production')
  await page.getByText('Copies of values outlive the token.').waitFor()
  await button('Create token').press('Enter')
  await page.getByText('cloakroom run -- ./deploy.sh').waitFor()
  await employer.choose('Set up', 'GitHub Actions')
  await page.getByText('::add-mask::').waitFor()
  await ada.judge()
  await button('Done').press('Enter')
  await row(/nightly/)
    .getByText('Use, read')
    .waitFor()
  await ada.picture('agents')
  await command('Revoke nightly of billing')
  await page.getByText('With nightly, billing can use and read secrets.').waitFor()
  await ada.judge()
  await answer('Revoke token')
  await row(/nightly/)
    .getByText('Revoked')
    .waitFor()
})

test('a limit of a new token is signed, and the table and the inspector show what is left', async () => {
  const { ada, page, button, label } = employer
  await button('New agent').click()
  await label('Name').fill('limited')
  await page.getByText('Limits (optional)').click()
  await label('Calls a day').fill('none')
  await page.getByText('Enter a whole number above 0.').waitFor()
  await label('Calls a day').fill('1000')
  await label('Megabytes a day').fill('50')
  await ada.judge()
  await button('Create token').click()
  await button('Done').click()
  await row(/limited/)
    .getByText('1,000 calls')
    .waitFor()
  await row(/limited/).click()
  await inspector('limited').getByText('50 of 50 left').waitFor()
  await ada.judge()
  await page.keyboard.press('Escape')
  await inspector('limited').waitFor({ state: 'detached' })
})

test('the filter and the chips narrow the list', async () => {
  const { page, label } = employer
  await page.keyboard.press('/')
  await page.keyboard.type('deploy')
  await row(/limited/).waitFor({ state: 'detached' })
  await label('Filter agents').fill('absent')
  await page.getByText('No results for "absent"').waitFor()
  await label('Filter agents').fill('')
  await page.getByRole('button', { name: /^Ended/ }).click()
  await row(/nightly/).waitFor()
  expect(await row(/deploy-bot/).count()).toBe(0)
  await page.getByRole('button', { name: /^All/ }).click()
})

test('a token that lacks keys shows the reason, and gets only the keys in its scope', async () => {
  const { ada, page, there, projectId, button } = employer
  const { api, workspace } = there
  const terms = { environment: null, order: {}, places: [] }
  const name = 'x'.repeat(100)
  const made = await registerWithToken(there, { name, projectId }, terms)
  const body = { name: 'canary' }
  await api.call(createEnvironment, { params: { project_id: projectId }, body })
  await open(made.agent.id)
  await inspector(name).getByText('No keys yet').waitFor()
  await choose('default', 'Missing keys…')
  await page.getByText('billing / canary').waitFor()
  await page.getByText('created after the token').first().waitFor()
  await ada.judge()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280)
  await button(/^Add \d keys$/).click()
  await inspector(name)
    .getByText(/billing \/ canary/)
    .waitFor()
  await choose('default', 'Missing keys…')
  await page.getByText('This token has every key it can use.').waitFor()
  await page.keyboard.press('Escape')

  const params = { workspace_id: workspace.id, registration_id: made.agent.id }
  const [listed] = await api.list(listAgentTokens, { params })
  if (!listed) throw new Error('there is no token')
  const asked = { call: () => Promise.reject(new Error('the server was asked')) } as unknown as Api
  const other = { projectId: Bun.randomUUIDv7(), environment: 'production' }
  const giving = giveKeys({ api: asked, workspace }, { agentId: made.agent.id }, listed, [other])
  await expect(giving).rejects.toThrow('outside the scope')
})

test('the screen shows the signed permissions of a token, even if the server claims others', async () => {
  const { ada, page, stage } = employer
  const { sql } = stage.app.connection
  await sql`update tokens set label = 'reads nothing', environment = 'development'
    where environment = 'production' and label = 'default'`
  await open()
  await row(/deploy-bot/).click()
  const shown = inspector('deploy-bot')
  await shown.getByText('The server shows other terms.').waitFor()
  await shown.getByText('default', { exact: true }).waitFor()
  await shown.getByText('production').waitFor()
  expect(await page.getByText('reads nothing').count()).toBe(0)
  await ada.judge()
  await sql`update tokens set label = 'default', environment = 'production'
    where label = 'reads nothing'`
  await open()
  await row(/deploy-bot/).click()
  await shown.getByText('Tokens', { exact: true }).waitFor()
  expect(await shown.getByText('The server shows other terms.').count()).toBe(0)
})

test('an agent gets a second token and loses the first one on a phone, by keyboard and by touch', async () => {
  const { ada, page, button, label, answer, call } = employer
  await page.setViewportSize({ width: 390, height: 844 })
  await ada.judge()
  await button('New token for deploy-bot').press('Enter')
  await label('Label').fill('second')
  await say('Environment', 'all environments')
  await ada.judge()
  await button('Create token').press('Enter')
  await button('Done').press('Enter')
  await inspector('deploy-bot').getByText('billing', { exact: true }).first().waitFor()
  await inspector('deploy-bot').getByText('second', { exact: true }).waitFor()
  await ada.judge()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.route('**/tokens/*/', (route) => route.fulfill({ status: 503, body: '' }))
  await choose('default', 'Revoke…')
  await page.getByText('You can’t undo this.').waitFor()
  await ada.judge()
  await answer('Revoke token')
  await page.getByRole('alertdialog').getByRole('alert').waitFor()
  expect(await call({ token })).toBe('domain_blocked')
  await page.unroute('**/tokens/*/')
  await answer('Revoke token')
  await page.getByText('Revoked default.').waitFor()
  expect(await call({ token })).toBe('invalid_token')
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('revoking a token that someone else revoked succeeds', async () => {
  const { page, answer, stage } = employer
  const { sql } = stage.app.connection
  await choose('second', 'Revoke…')
  await sql`update tokens set revoked_at = now() where label = 'second'`
  await answer('Revoke token')
  await page.getByText('Revoked second.').waitFor()
})

test('deleting an agent names it, and removes its row', async () => {
  const { page, button, answer } = employer
  await page.keyboard.press('Escape')
  await row(/limited/).click()
  await button('Delete agent').click()
  await page.getByText('limited and all its tokens stop working.').waitFor()
  await answer('Delete agent')
  await row(/limited/).waitFor({ state: 'detached' })
})

test('thirty agents are listed, and the first row is within 180 pixels from the top', async () => {
  const { ada, page, there, projectId } = employer
  const terms = { environment: 'staging', order: {}, places: [] }
  for (let index = 0; index < 30; index += 1)
    await registerWithToken(there, { name: `a-bot-${index}`, projectId }, terms)
  await open()
  const first = row(/a-bot-0/)
  await first.waitFor()
  expect((await first.boundingBox())?.y).toBeLessThanOrEqual(180)
  await first.click()
  await inspector('a-bot-0').waitFor()
  await ada.judge()
  await page.keyboard.press('Escape')
})

test('an unknown workspace shows that nothing is at its address', async () => {
  const { ada, page, stage } = employer
  await page.goto(`${stage.origin}/console/w/x/agents`)
  await page.getByText('Not found, or you don’t have access.').waitFor()
  await ada.judge()
  expect(await page.getByText('Only owners and admins').count()).toBe(0)
})

/** Loads the page again, without its cache; with an ID its inspector is open. */
async function open(show?: string) {
  const { page, there } = employer
  const search = show === undefined ? '' : `?show=${show}`
  await page.goto(`${employer.stage.origin}/console/w/${there.workspace.id}/agents${search}`)
  await page.getByRole('grid', { name: 'Agents' }).waitFor()
}
