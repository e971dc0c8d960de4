// tier: all
/** Daily paths through the console, in clicks and in seconds by the keystroke-level model. Both are printed. */
import { expect } from 'bun:test'
import { freshEmail } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { PASSWORD, signUp } from './accounts.ts'
import { createAgent } from './elsewhere.ts'
import { HOST, openEmployer } from './employer.ts'
import { type Cost, Path } from './keystrokes.ts'
import { openReachableStage } from './reachable.ts'

const { test, beforeAll, afterAll } = requires('chromium', 'curl')

/** The console's goal, from an empty browser to an answered call. */
const FIRST_CALL_SECONDS = 75

let employer: Awaited<ReturnType<typeof openEmployer>>

beforeAll(async () => {
  employer = await openEmployer('live')
})
afterAll(async () => {
  await employer.ada.close()
  await employer.stage.close()
})

function report(name: string, path: Path): Cost {
  const cost = path.cost()
  const { clicks, keys, seconds } = cost
  console.info(`${name}: ${clicks} clicks, ${keys} keys, ${seconds} s by the keystroke model`)
  return cost
}

test('a newcomer creates an account and makes the first call within 75 seconds', async () => {
  const { stage, upstream, runShownCall, close } = await openReachableStage()
  const grace = await stage.visitor('register')
  const { page } = grace
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const field = (name: string) => page.getByLabel(name, { exact: true })
  await grace.sees('Create account')
  const path = new Path(page)
  path.think()
  await path.click(field('Email'))
  await path.type(freshEmail('grace'))
  await path.press('Tab')
  await path.type(PASSWORD)
  await path.press('Enter')
  await grace.sees('Your recovery key', { reveals: true })
  path.think()
  await path.click(button('Download'))
  await path.click(button('I’ve saved it'))
  await grace.sees('Make your first call')
  await field('API key').waitFor()
  path.think()
  await path.paste(marked('ghp_'))
  await page.getByText('GitHub key. Its name and host are filled in.').waitFor()
  // Not part of the path: a person calls the provider's own host.
  await field('Host').fill(`${HOST}:${upstream.port}`)
  path.think()
  await path.click(page.locator('label', { hasText: 'curl' }))
  await path.click(button('Add secret and create token'))
  await page.getByText('Waiting for the call…').waitFor()
  path.think()
  await path.click(button('Copy Terminal'))
  path.actElsewhere('click', 'Control+V', 'Enter')
  await path.click(button('Copy token'))
  path.actElsewhere('click', 'Control+V', 'Enter')
  await button('Show token').click()
  const token = (await page.locator('[data-secret-value]').textContent()) ?? ''
  await button('Hide token').click()
  expect(await runShownCall(page, token)).toContain('"status_code":200')
  await page.getByText('It worked.').waitFor()
  path.think()
  expect(report('First call, from creating an account', path).seconds).toBeLessThanOrEqual(
    FIRST_CALL_SECONDS,
  )
  await grace.close()
  await close()
})

test('a refused call is allowed with two clicks', async () => {
  const { page, button, call, there, projectId } = employer
  const token = await createAgent(there, projectId, 'deploy-bot')
  await page.locator('#content').getByText('Live', { exact: true }).waitFor()
  expect(await call({ token })).toBe('domain_blocked')
  const path = new Path(page)
  path.think()
  await path.click(button(`Review ${HOST}`))
  path.think()
  await path.click(button('Sign and allow'))
  await page.getByText('Allowed. Waiting for the next call…').waitFor()
  const cost = report('Allow a refused host', path)
  expect(cost).toEqual({ clicks: 2, keys: 0, seconds: 5.3, operators: 'MPBBMPBB' })
  const chain = await there.chains.readNewerLinks(there.workspace)
  expect([...chain.allowlist]).toEqual([HOST])
})

test('a colleague is invited with four clicks, besides the call that compares fingerprints', async () => {
  const { page, button, stage } = employer
  const email = freshEmail('bob')
  await signUp(stage.app.controlPlane, email)
  const path = new Path(page)
  path.think()
  await path.click(page.getByRole('link', { name: 'Members', exact: true }))
  await path.click(button('Invite member'))
  await page.getByLabel('Email', { exact: true }).waitFor()
  await path.paste(email)
  await path.press('Enter')
  await button('It matches, invite').waitFor()
  path.think()
  await path.click(button('It matches, invite'))
  await page.getByText(`Waiting for ${email} to accept…`).waitFor()
  await path.click(button('Copy the invitation link'))
  const cost = report('Invite a member', path)
  expect(cost).toMatchObject({ clicks: 4, keys: 3 })
  expect(cost.seconds).toBeLessThan(15)
})
