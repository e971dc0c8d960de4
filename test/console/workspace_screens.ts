/** Steps on the screens of workspaces and members that several tests take. */
import type { Page } from 'playwright-core'
import type { Person, Visitor } from './browser.ts'

/** Creates a workspace on the list of workspaces. @returns its id */
export async function createWorkspace({ page }: Visitor, name: string): Promise<string> {
  const { origin } = new URL(page.url())
  await page.goto(`${origin}/console/workspaces`)
  await page.getByRole('button', { name: 'Create workspace' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Workspace name').fill(name)
  await dialog.getByRole('button', { name: 'Create workspace' }).click()
  const href = (await workspaceLink(page, name).getAttribute('href')) ?? ''
  await dialog.waitFor({ state: 'detached' })
  return /\/w\/([^/]+)\//.exec(href)?.[1] ?? ''
}

export function workspaceLink(page: Page, name: string) {
  return page
    .getByRole('list', { name: 'Your workspaces' })
    .getByRole('link', { name: new RegExp(`^${name}`) })
}

export async function openArea(page: Page, name: string): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Navigation' })
    .getByRole('link', { name, exact: true })
    .click()
}

/** Both sheets of an invitation before the signature. */
export async function inviteUntilCompared({ page }: Visitor, email: string, role?: string) {
  await page.getByRole('button', { name: 'Invite member' }).click()
  await page.getByLabel('Email').fill(email)
  if (role !== undefined) await page.getByRole('radio', { name: role }).check({ force: true })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'It matches, invite' }).waitFor()
}

export async function invite(visitor: Visitor, email: string, role?: string): Promise<string> {
  await inviteUntilCompared(visitor, email, role)
  const { page } = visitor
  await page.getByRole('button', { name: 'It matches, invite' }).click()
  await page.getByText(`Waiting for ${email} to accept…`).waitFor()
  const link = await page.locator('code', { hasText: '/console/invitation#' }).innerText()
  await page.getByRole('button', { name: 'Done' }).click()
  return link
}

export async function openMember({ page }: Visitor, { email }: Pick<Person, 'email'>) {
  await page.getByRole('rowheader', { name: email }).click()
  await page.getByRole('heading', { name: email, level: 2 }).waitFor()
}
