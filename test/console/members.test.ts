// tier: all
/** Members, invitations, the key and the signed history of a workspace in the console, two people at once. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { freshEmail } from '../support/app.ts'
import { requires } from '../support/requires.ts'
import { openStage, PASSWORD, type Stage, type Visitor } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

async function openWorkspace({ page, sees }: Visitor, name: string) {
  await page.getByRole('link', { name: 'Cloakroom' }).click()
  await sees('Workspaces')
  await page.getByRole('link', { name, exact: true }).click()
}

async function area(page: Page, name: string) {
  await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
}

async function make({ page, sees }: Visitor, name: string) {
  await sees('Workspaces')
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByRole('button', { name: 'Make a workspace' }).click()
  await page.getByRole('link', { name, exact: true }).waitFor()
}

test('a member is invited by a compared fingerprint, joins by a link, is promoted and removed, and the workspace gets a new key', async () => {
  const ada = await stage.person('ada')
  const bob = await stage.person('bob')
  await make(ada, 'Acme')
  await openWorkspace(ada, 'Acme')
  await area(ada.page, 'Members')
  await ada.sees('Members')
  await ada.page.getByText('You are alone here.').waitFor()

  await ada.page.getByRole('button', { name: 'Make the link' }).click()
  const link = await ada.page.locator('code', { hasText: '/console/invitation#' }).innerText()
  await ada.page.getByRole('img', { name: 'The link as a QR code' }).waitFor()
  await ada.judge()
  expect(link.split('&by=')[1]).toBe(encodeURIComponent(ada.email))
  expect(link).toMatch(/#server=http.*&workspace=[0-9a-f-]{36}&first=[\w-]{43}&by=[\w.%-]+$/)

  // Bob follows it before he is invited: he sees what to send.
  await bob.page.goto(link)
  await bob.sees('Invitation')
  await bob.page.getByText('You are not invited to it yet.').waitFor()
  const own = await bob.page.locator('code', { hasText: bob.email }).innerText()

  await ada.page.getByLabel('E-mail address').fill('nobody@example.com')
  await ada.page.getByRole('button', { name: 'Look at their keys' }).click()
  await ada.page.getByText('Nobody has an account here under this address.').waitFor()
  await ada.page.getByLabel('E-mail address').fill(bob.email)
  await ada.page.getByRole('button', { name: 'Look at their keys' }).click()
  const compared = ada.page.getByRole('note').locator('code.fingerprint')
  expect(`${bob.email} ${await compared.innerText()}`).toBe(own)
  await ada.judge()
  await ada.picture('members')
  await ada.page.getByRole('button', { name: 'It is the same: invite' }).click()
  await ada.page.getByRole('rowheader', { name: bob.email }).waitFor()

  await bob.page.getByRole('button', { name: 'Look again' }).click()
  await bob.page.getByText('Acme invites you as member.').waitFor({ timeout: 30_000 })
  await bob.page.getByText('Its signed history is the one that the link').waitFor()
  await bob.judge()
  await bob.picture('invitation')
  await bob.page.getByRole('button', { name: 'Accept' }).click()
  await bob.page.getByRole('navigation').waitFor()

  await ada.page.getByRole('button', { name: `Role of ${bob.email}: member` }).click()
  await ada.page.getByRole('menuitem', { name: 'admin' }).click()
  await ada.page.getByRole('button', { name: 'Change the role' }).click()
  await ada.page.getByRole('button', { name: `Role of ${bob.email}: admin` }).waitFor()
  await ada.page.getByRole('button', { name: `Remove ${bob.email}` }).click()
  await ada.page.getByText('No token ends with it.').waitFor()
  await ada.judge()
  await ada.page.getByRole('button', { name: 'Remove', exact: true }).click()
  await ada.page.getByText('A new key is due').waitFor()
  await ada.page.getByRole('button', { name: 'Rekey' }).click()
  await ada.page.getByText('It permanently ends what the old key alone opens').waitFor()
  await ada.page.getByRole('alertdialog').getByRole('button', { name: 'Rekey' }).click()
  await ada.page.getByText('Epoch 2: one member').waitFor()
  await ada.judge()

  await area(ada.page, 'History')
  await ada.sees('History')
  for (const what of [
    'created the workspace',
    `invited ${bob.email} as member`,
    `made ${bob.email} admin`,
    `removed ${bob.email}`,
    'sealed everything under a new key (epoch 2)',
  ]) {
    await ada.page.getByRole('rowheader', { name: what }).waitFor()
  }
  const find = ada.page.getByLabel('Find a change')
  await find.fill('removed bob')
  await ada.page.getByText('1 of 5 changes').waitFor()
  const hash = await ada.page.locator('td code').first().getAttribute('title')
  await find.fill(hash ?? 'none')
  await ada.page.getByText('1 of 5 changes').waitFor()
  expect(hash).toMatch(/^[\w-]{43}$/)
  await find.clear()
  await ada.page.getByRole('button', { name: 'Verify everything' }).click()
  await ada.page.getByText('Verified: one member').waitFor()
  await ada.judge()
  await ada.picture('history')
  await Promise.all([ada.close(), bob.close()])
}, 90_000)

test('a workspace whose links were changed in the database is reported on every screen, and nothing is written to it', async () => {
  const eve = await stage.person('eve')
  await make(eve, 'Broken')
  await openWorkspace(eve, 'Broken')
  await area(eve.page, 'Members')
  await eve.sees('Members')
  const { sql } = stage.app.connection
  const id = /\/w\/([^/]+)\//.exec(eve.page.url())?.[1] ?? ''
  await sql`update workspace_links set statement = replace(statement, 'eve-', 'mal-')
    where workspace_id = ${id}`
  await eve.page.reload()
  await eve.page.getByText('is not what its members signed').first().waitFor()
  await eve.page.getByText('untrusted_chain').waitFor()
  await eve.sees('Members')
  await area(eve.page, 'History')
  await eve.sees('History')
  await eve.page.getByText('What the server shows is not what was signed.').waitFor()
  const refusal = eve.page.getByRole('alert').filter({ hasText: 'Nothing is read from it or' })
  const screens = await eve.page.getByRole('navigation').getByRole('link').allInnerTexts()
  expect(screens).toHaveLength(7)
  for (const screen of screens) {
    await area(eve.page, screen)
    await eve.sees(screen)
    await refusal.waitFor()
    await eve.judge()
  }
  await eve.judge()
  await eve.page.getByRole('link', { name: 'Cloakroom' }).click()
  await eve.sees('Workspaces')
  await eve.page.getByText('Nothing is read from it or written to it:').waitFor()
  await eve.judge()
  const row = eve.page.getByRole('listitem').filter({ hasText: 'Broken' })
  await row.getByRole('button', { name: 'Rename' }).click()
  await row.getByLabel('New name of Broken').fill('Other')
  await row.getByRole('button', { name: 'Save' }).click()
  await eve.page.getByText('untrusted_chain').waitFor()
  const [named] = await sql`select name from workspaces where id = ${id}`
  expect(named).toMatchObject({ name: 'Broken' })
  await eve.close()
})

test('someone without an account creates one behind the link, and arrives at the invitation', async () => {
  const ann = await stage.person('ann')
  await make(ann, 'Crew')
  await openWorkspace(ann, 'Crew')
  await area(ann.page, 'Members')
  await ann.page.getByRole('button', { name: 'Make the link' }).click()
  const link = await ann.page.locator('code', { hasText: '/console/invitation#' }).innerText()
  await ann.close()

  const hal = await stage.visitor(link.split('/console/')[1] ?? '')
  await hal.page.getByRole('link', { name: 'I need an account' }).click()
  await hal.sees('Make an account')
  const email = freshEmail('hal')
  await hal.page.getByLabel('E-mail address').fill(email)
  await hal.page.getByLabel('Password').fill(PASSWORD)
  await hal.page.getByRole('button', { name: 'Make an account' }).click()
  await hal.sees('Your recovery key', { reveals: true })
  await hal.page.getByRole('button', { name: 'I have kept it' }).click()
  await hal.sees('Invitation')
  await hal.page.getByText('You are not invited to it yet.').waitFor()
  await hal.page.locator('code', { hasText: email }).waitFor()
  await hal.judge()
  await hal.close()
})

test('an invitation whose link names another history is refused', async () => {
  const fay = await stage.person('fay')
  const gus = await stage.person('gus')
  await make(fay, 'Team')
  await openWorkspace(fay, 'Team')
  await area(fay.page, 'Members')
  await fay.page.getByRole('button', { name: 'Make the link' }).click()
  const link = await fay.page.locator('code', { hasText: '/console/invitation#' }).innerText()
  await fay.page.getByLabel('E-mail address').fill(gus.email)
  await fay.page.getByRole('button', { name: 'Look at their keys' }).click()
  await fay.page.getByRole('button', { name: 'It is the same: invite' }).click()
  await fay.page.getByRole('rowheader', { name: gus.email }).waitFor()

  await gus.page.goto(link.replace(/first=[\w-]{43}/, `first=${'A'.repeat(43)}`))
  await gus.page.getByText('This is not the workspace that the link names.').waitFor()
  await gus.judge()
  await Promise.all([fay.close(), gus.close()])
})

test('an unavailable server is reported, and the same button retries', async () => {
  const kim = await stage.person('kim')
  await make(kim, 'Both')
  await openWorkspace(kim, 'Both')
  await area(kim.page, 'Members')
  await kim.sees('Members')
  const { email } = await stage.person('lou').then(async (lou) => {
    await lou.close()
    return lou
  })
  await kim.page.context().setOffline(true)
  await kim.page.getByLabel('E-mail address').fill(email)
  await kim.page.getByRole('button', { name: 'Look at their keys' }).click()
  await kim.page.getByText('The server cannot be reached.').waitFor()
  await kim.page.context().setOffline(false)
  await kim.page.getByRole('button', { name: 'Look at their keys' }).click()
  await kim.page.getByRole('button', { name: 'It is the same: invite' }).waitFor()
  await kim.close()
})
