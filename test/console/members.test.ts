// tier: all
/** Members, invitations, rekeys and the signed history of a workspace in the console, with two people at once. */
import { expect } from 'bun:test'
import { freshEmail } from '../support/app.ts'
import { requires } from '../support/requires.ts'
import { openStage, PASSWORD, type Stage } from './browser.ts'
import { elsewhere, joined } from './elsewhere.ts'
import {
  createWorkspace,
  invite,
  inviteUntilCompared,
  openArea,
  openMember,
  workspaceLink,
} from './workspace_screens.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

async function openMembers(name: string, workspace: string) {
  const person = await stage.person(name)
  const id = await createWorkspace(person, workspace)
  await person.page.goto(`${stage.origin}/console/w/${id}/members`)
  await person.page.getByRole('grid', { name: 'Members' }).waitFor()
  return { ...person, id }
}

test('a member is invited in three steps by a compared fingerprint, joins by the link, changes role and is removed, and a rekey follows', async () => {
  const ada = await openMembers('ada', 'Acme')
  const bob = await stage.person('bob')
  const { page } = ada
  await page.getByText('You’re the only member.').waitFor()
  await ada.judge()

  await page.getByRole('button', { name: 'Invite member' }).click()
  await page.getByLabel('Email').fill('nobody@example.com')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('No account uses this email.').waitFor()
  await ada.judge()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Discard' }).click()
  await inviteUntilCompared(ada, bob.email)
  const compared = await page.locator('[data-fingerprint]').innerText()
  await ada.judge()
  await ada.picture('members')
  await page.getByRole('button', { name: 'It’s different' }).click()
  await page.getByText('Don’t invite them.').waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Back' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'It matches, invite' }).click()
  await page.getByText(`Waiting for ${bob.email} to accept…`).waitFor()
  await page.getByText('QR code').click()
  await page.getByRole('img', { name: 'The link as a QR code' }).waitFor()
  const link = await page.locator('code', { hasText: '/console/invitation#' }).innerText()
  expect(link.split('&by=')[1]).toBe(encodeURIComponent(ada.email))
  expect(link).toMatch(/#server=http.*&workspace=[0-9a-f-]{36}&first=[\w-]{43}&by=[\w.%-]+$/)
  await ada.judge()

  await bob.page.goto(link)
  await bob.sees('Invitation')
  await bob.page.getByText('Join Acme').waitFor()
  await bob.page.getByText('You’re invited as a member.').waitFor()
  await bob.page.getByText('Verified: this is the workspace in the link').waitFor()
  expect(await bob.page.locator('[data-fingerprint]').innerText()).toBe(compared)
  await bob.judge()
  await bob.picture('invitation')
  await bob.page.getByRole('button', { name: 'Accept invitation' }).click()
  await bob.page.waitForURL(/\/overview$/)

  await page.getByText(`${bob.email} accepted.`).waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  const row = page.getByRole('row').filter({ hasText: bob.email })
  await row.getByText('Compared').waitFor()
  await row.getByText('Active').waitFor()
  await openMember(ada, bob)
  await ada.judge()
  await page.getByRole('button', { name: `Role of ${bob.email}: Member` }).click()
  await page.getByRole('menuitemradio', { name: 'Admin' }).click()
  await page.getByRole('alertdialog').getByText(`${bob.email} · Admin`).waitFor()
  await page.getByRole('button', { name: 'Sign and change role' }).click()
  await page.getByRole('button', { name: `Role of ${bob.email}: Admin` }).waitFor()
  await page.getByRole('button', { name: 'Remove from workspace…' }).click()
  await page.getByText('No tokens stop working.').waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('A rekey is due.').waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Rekey' }).click()
  await page.getByText('You lose earlier versions of 0 secrets').waitFor()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Rekey' }).click()
  await page.getByText('New key for one member').waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByText('A rekey is due.').waitFor({ state: 'detached' })

  const { chains, workspace } = await elsewhere(stage.app.controlPlane, ada.email, PASSWORD, 'Acme')
  expect(await chains.of(workspace)).toMatchObject({ seq: 5, epoch: 2 })
  await Promise.all([ada.close(), bob.close()])
}, 120_000)

test('someone who is not invited yet sees the fingerprint to send, and checks again', async () => {
  const ivy = await openMembers('ivy', 'Crew')
  const jon = await stage.person('jon')
  const kay = await stage.person('kay')
  const link = await invite(ivy, kay.email)
  await jon.page.goto(link)
  await jon.sees('Invitation')
  await jon.page.getByText('You’re not invited yet').waitFor()
  const own = await jon.page.locator('[data-fingerprint]').innerText()
  await jon.page.locator('code', { hasText: jon.email }).waitFor()
  await jon.judge()
  await inviteUntilCompared(ivy, jon.email, 'Read only')
  expect(await ivy.page.locator('[data-fingerprint]').innerText()).toBe(own)
  await ivy.page.getByRole('button', { name: 'It matches, invite' }).click()
  await ivy.page.getByText(`Waiting for ${jon.email}`).waitFor()
  await jon.page.getByRole('button', { name: 'Check again' }).click()
  await jon.page.getByText('You’re invited as a read-only member.').waitFor({ timeout: 30_000 })
  await jon.page.getByRole('button', { name: 'Accept invitation' }).click()
  await jon.page.waitForURL(/\/overview$/)
  // A read-only member cannot change members, and may leave.
  await openArea(jon.page, 'Members')
  await jon.page.getByRole('grid', { name: 'Members' }).waitFor()
  expect(await jon.page.getByRole('button', { name: 'Invite member' }).count()).toBe(0)
  await openMember(jon, ivy)
  expect(await jon.page.getByRole('button', { name: /^Role of|workspace…$/ }).count()).toBe(0)
  await jon.judge()
  await jon.page.keyboard.press('Escape')
  await openMember(jon, jon)
  await jon.page.getByRole('button', { name: 'Leave workspace…' }).waitFor()
  await Promise.all([ivy.close(), jon.close(), kay.close()])
}, 60_000)

test('members are found by text and state, compared in the inspector, and an invitation is withdrawn', async () => {
  const ada = await openMembers('ann', 'Team')
  const [bob, cyd] = [await stage.person('bea'), await stage.person('cal')]
  const { page } = ada
  await joined(stage.app.controlPlane, 'Team', ada.email, bob.email, 'member')
  await invite(ada, cyd.email)
  await page.reload()
  const rows = page.getByRole('rowheader')
  await page.getByRole('rowheader', { name: cyd.email }).waitFor()
  expect(await rows.count()).toBe(3)
  await page.keyboard.press('/')
  await page.keyboard.type('bea')
  await page.waitForURL(/find=bea/)
  expect(await rows.count()).toBe(1)
  await page.getByRole('searchbox', { name: 'Filter members' }).fill('nothing like it')
  await page.getByText('No matching members').waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await page.getByRole('button', { name: 'Not compared 1' }).click()
  expect(await rows.allInnerTexts()).toEqual([expect.stringContaining(bob.email)])
  await openMember(ada, bob)
  await page.getByRole('button', { name: 'It matches' }).click()
  await page.getByText('No matching members').waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await openMember(ada, cyd)
  await ada.judge()
  // The address leads to the same member.
  await page.reload()
  await page.getByRole('heading', { name: cyd.email, level: 2 }).waitFor()
  await page.locator('code', { hasText: '/console/invitation#' }).waitFor()
  await page.getByRole('button', { name: 'Withdraw invitation…' }).click()
  await page.getByText('can’t join with the link anymore').waitFor()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Withdraw' }).click()
  await page.getByRole('rowheader', { name: cyd.email }).waitFor({ state: 'detached' })
  await Promise.all([ada.close(), bob.close(), cyd.close()])
}, 60_000)

test('a workspace whose links were changed in the database is blocked on every screen, and nothing is written to it', async () => {
  const eve = await openMembers('eve', 'Broken')
  const { page, id } = eve
  const { sql } = stage.app.connection
  await sql`update workspace_links set statement = replace(statement, 'eve-', 'mal-')
    where workspace_id = ${id}`
  await page.reload()
  const refusal = page.getByRole('alert').filter({ hasText: 'doesn’t verify. It’s blocked.' })
  await refusal.waitFor()
  await refusal.getByText('Details').click()
  await refusal.getByText('does not match its signatures').waitFor()
  const links = page.getByRole('navigation', { name: 'Navigation' }).getByRole('link')
  const screens = await links.allInnerTexts()
  expect(screens).toHaveLength(9)
  for (const screen of screens) {
    await openArea(page, screen)
    await eve.sees(screen)
    // The signed history has its own verdict.
    const verdict = page.getByRole('alert').filter({ hasText: 'other than what was signed' })
    await (screen === 'Signed history' ? verdict : refusal).waitFor()
    await eve.judge()
  }
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByLabel('Workspace name').fill('Other')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('dialog').getByText('Details').click()
  await page.getByText('untrusted_chain').waitFor()
  const [named] = await sql`select name from workspaces where id = ${id}`
  expect(named).toMatchObject({ name: 'Broken' })
  await page.goto(`${stage.origin}/console/workspaces`)
  await workspaceLink(page, 'Broken').getByText('Blocked').waitFor()
  await eve.judge()
  await eve.close()
}, 90_000)

test('someone without an account creates one behind the link, and arrives at the invitation', async () => {
  const ann = await openMembers('amy', 'Crew')
  const other = await stage.person('oda')
  const link = await invite(ann, other.email)
  await Promise.all([ann.close(), other.close()])

  const hal = await stage.visitor(link.split('/console/')[1] ?? '')
  await hal.page.getByRole('link', { name: 'Create account' }).click()
  await hal.sees('Create account')
  const email = freshEmail('hal')
  await hal.page.getByLabel('Email').fill(email)
  await hal.page.getByLabel('Password').fill(PASSWORD)
  await hal.page.getByRole('button', { name: 'Create account' }).click()
  await hal.sees('Your recovery key', { reveals: true })
  await hal.page.getByRole('button', { name: 'I’ve saved it' }).click()
  await hal.sees('Invitation')
  await hal.page.getByText('You’re not invited yet').waitFor()
  await hal.page.locator('code', { hasText: email }).waitFor()
  await hal.judge()
  await hal.close()
})

test('an invitation whose link names another history is refused', async () => {
  const fay = await openMembers('fay', 'Team')
  const gus = await stage.person('gus')
  const link = await invite(fay, gus.email)
  await gus.page.goto(link.replace(/first=[\w-]{43}/, `first=${'A'.repeat(43)}`))
  await gus.page.getByText('This isn’t the workspace in the link.').waitFor()
  await gus.judge()
  await Promise.all([fay.close(), gus.close()])
})

test('an unavailable server is reported, and the same button retries', async () => {
  const kim = await openMembers('kim', 'Both')
  const lou = await stage.person('lou')
  await lou.close()
  const { page } = kim
  await page.getByRole('button', { name: 'Invite member' }).click()
  await page.context().setOffline(true)
  await page.getByLabel('Email').fill(lou.email)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('The server is unavailable.', { exact: true }).waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'It matches, invite' }).waitFor()
  await kim.close()
})
