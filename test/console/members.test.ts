/** Members, invitations, the key and the signed history of a workspace in the console, two people at once. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openStage, PASSWORD, type Stage, type Visitor } from './browser.ts'

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

async function unlock({ page }: Visitor) {
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Unlock' }).click()
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

test('a team: invited with a compared fingerprint, joined by a link, promoted, removed, rekeyed', async () => {
  const ada = await stage.person('ada@example.com')
  const bob = await stage.person('bob@example.com')
  await make(ada, 'Acme')
  await openWorkspace(ada, 'Acme')
  await area(ada.page, 'Members')
  await ada.sees('Members')
  await ada.page.getByText('You are alone here.').waitFor()

  await ada.page.getByRole('button', { name: 'Make the link' }).click()
  const link = await ada.page.locator('code', { hasText: '/console/invitation#' }).innerText()
  await ada.page.getByRole('img', { name: 'The link as a QR code' }).waitFor()
  await ada.judge()
  expect(link).toMatch(
    /#server=http.*&workspace=[0-9a-f-]{36}&first=[\w-]{43}&by=ada%40example\.com$/,
  )

  // Bob follows it before he is invited: he sees what to send.
  await bob.page.goto(link)
  await unlock(bob)
  await bob.sees('Invitation')
  await bob.page.getByText('You are not invited to it yet.').waitFor()
  const own = await bob.page.locator('code', { hasText: 'bob@example.com' }).innerText()

  await ada.page.getByLabel('E-mail address').fill('nobody@example.com')
  await ada.page.getByRole('button', { name: 'Look at their keys' }).click()
  await ada.page.getByText('Nobody has an account here under this address.').waitFor()
  await ada.page.getByLabel('E-mail address').fill('bob@example.com')
  await ada.page.getByRole('button', { name: 'Look at their keys' }).click()
  const compared = ada.page.getByRole('note').locator('code.fingerprint')
  expect(`bob@example.com ${await compared.innerText()}`).toBe(own)
  await ada.judge()
  await ada.page.getByRole('button', { name: 'It is the same: invite' }).click()
  await ada.page.getByRole('rowheader', { name: 'bob@example.com' }).waitFor()

  await bob.page.getByRole('button', { name: 'Look again' }).click()
  await bob.page.getByText('Acme invites you as member.').waitFor({ timeout: 30_000 })
  await bob.page.getByText('Its signed history is the one that the link').waitFor()
  await bob.judge()
  await bob.page.getByRole('button', { name: 'Accept' }).click()
  await bob.page.getByRole('navigation').waitFor()

  await ada.page.getByRole('button', { name: 'Role of bob@example.com: member' }).click()
  await ada.page.getByRole('menuitem', { name: 'admin' }).click()
  await ada.page.getByRole('button', { name: 'Change the role' }).click()
  await ada.page.getByRole('button', { name: 'Role of bob@example.com: admin' }).waitFor()
  await ada.page.getByRole('button', { name: 'Remove bob@example.com' }).click()
  await ada.page.getByText('No token ends with it.').waitFor()
  await ada.judge()
  await ada.page.getByRole('button', { name: 'Remove', exact: true }).click()
  await ada.page.getByText('A new key is due').waitFor()
  await ada.page.getByRole('button', { name: 'Rekey' }).click()
  await ada.page.getByText('It ends for good what the old key alone opens').waitFor()
  await ada.page.getByRole('alertdialog').getByRole('button', { name: 'Rekey' }).click()
  await ada.page.getByText('Epoch 2: one member').waitFor()
  await ada.judge()

  await area(ada.page, 'History')
  await ada.sees('History')
  for (const what of [
    'created the workspace',
    'invited bob@example.com as member',
    'made bob@example.com admin',
    'removed bob@example.com',
    'sealed everything under a new key (epoch 2)',
  ]) {
    await ada.page.getByRole('rowheader', { name: what }).waitFor()
  }
  await ada.page.getByRole('button', { name: 'Verify everything' }).click()
  await ada.page.getByText('Verified: one member').waitFor()
  await ada.judge()
  await Promise.all([ada.close(), bob.close()])
}, 90_000)
