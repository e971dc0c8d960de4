// tier: all
/**
 * Every form of the console, sent as it opens: each required field is marked, nothing is sent, and the button works
 * again. An empty password kept the worker of the keys waiting forever.
 */
import { expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { requires } from '../support/requires.ts'
import { PASSWORD } from './accounts.ts'
import { attachAuthenticator } from './authenticators.ts'
import { type OwnStage, openOwnStage, type Person } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const WEB = join(import.meta.dir, '..', '..', 'src', 'console', 'web')

type Form = {
  /** Below src/console/web/screens. */
  file: string
  /** Below /console/; `W` is the workspace. */
  path: string
  /** The button that sends it. */
  verb: string
  /** Labels of the fields that are marked, in order. */
  fields: readonly string[]
  /** Opens the form, or empties it. */
  open?(page: Page): Promise<unknown>
}

const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).first().click()
const label = (page: Page, name: string) => page.getByLabel(name, { exact: true })
/** A button with the same name may open the form. */
const showsDialog = (page: Page) => page.locator('[role=dialog], [role=alertdialog]').waitFor()
const pressing = (name: string) => async (page: Page) => {
  await press(page, name)
  await showsDialog(page)
}
const emptying = (name: string, field: string) => async (page: Page) => {
  await press(page, name)
  await label(page, field).last().fill('')
}

const outside: Form[] = [
  {
    ...{ file: 'start/entrance.tsx', path: 'login', verb: 'Sign in' },
    fields: ['Email', 'Password'],
  },
  {
    ...{ file: 'start/entrance.tsx', path: 'register', verb: 'Create account' },
    fields: ['Email', 'Password'],
  },
  {
    ...{ file: 'start/entrance.tsx', path: 'recover', verb: 'Set new password' },
    fields: ['Email', 'New password', 'Recovery key'],
  },
]
const current = 'Current password'
const passwordDialog = { file: 'account/password_dialog.tsx', path: 'account' }
/** Closes the dialog of the form before. */
const opening = (name: string) => async (page: Page) => {
  await page.keyboard.press('Escape')
  await page.getByRole('alertdialog').waitFor({ state: 'detached' })
  await press(page, name)
}
const chooseProvider = (name: string) => async (page: Page) => {
  await page.getByRole('button', { name: /Provider$/ }).click()
  await page.getByRole('option', { name }).click()
}
const choosing = (menu: string, choice: string) => async (page: Page) => {
  await opening(menu)(page)
  await page.getByRole('menuitem', { name: choice }).click()
}
/** In a workspace that is empty. The project and the secret that it adds are those of other forms. */
const firstRun: Form = {
  ...{ file: 'first_steps/start_form.tsx', path: 'w/W/first-steps' },
  ...{ verb: 'Add secret and create token', fields: ['API key', 'Name', 'Host'] },
}
const inside: Form[] = [
  {
    ...{ file: 'audit/period_menu.tsx', path: 'w/W/audit', verb: 'Show period' },
    fields: ['From day', 'To day'],
    open: async (page) => {
      await page.getByRole('button', { name: /^Period: / }).click()
      await page.getByRole('menuitemradio', { name: 'Custom…' }).click()
      await label(page, 'From day').fill('')
      await label(page, 'To day').fill('')
    },
  },
  {
    ...{ file: 'workspaces/name_form.tsx', path: 'workspaces', verb: 'Create workspace' },
    ...{ fields: ['Workspace name'], open: pressing('Create workspace') },
  },
  {
    ...{ file: 'workspaces/name_form.tsx', path: 'w/W/settings', verb: 'Rename' },
    ...{ fields: ['Workspace name'], open: emptying('Rename', 'Workspace name') },
  },
  {
    ...{ file: 'settings/add_target.tsx', path: 'w/W/settings?', verb: 'Add target' },
    ...{ fields: ['URL'], open: pressing('Add target') },
  },
  {
    ...{ file: 'allowlist/add.tsx', path: 'w/W/allowlist', verb: 'Add host' },
    ...{ fields: ['Host'], open: pressing('Add host') },
  },
  {
    ...{ file: 'members/invite.tsx', path: 'w/W/members?invite=new', verb: 'Continue' },
    fields: ['Email'],
  },
  {
    ...{ file: 'agents/new_token/order.tsx', path: 'w/W/agents', verb: 'Create token' },
    ...{ fields: ['Name'], open: pressing('New agent') },
  },
  {
    ...{ file: 'secrets/sheets/new_project.tsx', path: 'w/W/secrets?pane=project' },
    ...{ verb: 'Create project', fields: ['Project name'] },
  },
  {
    ...{ file: 'secrets/sheets/new_project.tsx', path: 'w/W/secrets?pane=environment' },
    ...{ verb: 'Create environment', fields: ['Environment name'] },
  },
  {
    ...{ file: 'secrets/sheets/add.tsx', path: 'w/W/secrets?pane=new', verb: 'Add secret' },
    fields: ['Name', 'Value in development', 'Value in staging', 'Value in production'],
    open: showsDialog,
  },
  {
    ...{ file: 'secrets/connect/connect_form.tsx', path: 'w/W/secrets?pane=connect' },
    ...{ verb: 'Show command', fields: ['Name', 'MCP server URL'] },
  },
  {
    ...{ file: 'secrets/connect/connect_form.tsx', path: 'w/W/secrets?pane=connect' },
    verb: 'Show command',
    fields: ['Name', 'Issuer URL', 'Client ID', 'Hosts that may use it', 'Redirect address'],
    open: async (page) => {
      await chooseProvider('Other OAuth provider')(page)
      await label(page, 'Redirect address').fill('')
    },
  },
  {
    ...{ file: 'secrets/connect/connect_form.tsx', path: 'w/W/secrets?pane=connect' },
    verb: 'Show command',
    fields: ['Name', 'Client ID', 'Hosts that may use it'],
    open: async (page) => {
      await chooseProvider('GitHub')(page)
      await press(page, 'Remove api.github.com')
    },
  },
  {
    ...{ file: 'secrets/transfers/importing.tsx', path: 'w/W/secrets?pane=import' },
    ...{ verb: 'Preview changes', fields: ['Lines such as NAME=value'] },
  },
  {
    ...{
      file: 'secrets/inspector/value_form.tsx',
      path: 'w/W/secrets?key=SOME_KEY&environment=production',
    },
    ...{ verb: 'Add value', fields: ['Value'] },
  },
  {
    ...{ ...passwordDialog, verb: 'Change password', fields: [current, 'New password'] },
    open: opening('Change password'),
  },
  {
    ...{ ...passwordDialog, verb: 'Create recovery key', fields: [current] },
    open: opening('Create recovery key'),
  },
  {
    ...{ ...passwordDialog, verb: 'Replace keys', fields: [current] },
    open: opening('Replace keys'),
  },
  {
    ...{ ...passwordDialog, verb: 'Delete account', fields: [current, 'Type EMAIL to confirm'] },
    open: opening('Delete account'),
  },
  {
    ...{ ...passwordDialog, verb: 'Add passkey', fields: [current, 'Name'] },
    open: opening('Add passkey'),
  },
  {
    ...{ ...passwordDialog, verb: 'Let it unlock', fields: [current] },
    open: choosing('Actions for Key', 'Let it unlock…'),
  },
  {
    ...{ file: 'account/passkey_row.tsx', path: 'account', verb: 'Rename', fields: ['Name'] },
    open: async (page) => {
      await choosing('Actions for Key', 'Rename…')(page)
      await label(page, 'Name').fill('')
    },
  },
]
/** Without a required field. */
const OPTIONAL = ['secrets/connect/reconnect.tsx']
/** Needs a proposal: approvals.test.ts sends it empty. */
const ELSEWHERE = ['waiting/acceptance.tsx']

let stage: OwnStage
let ada: Person

beforeAll(async () => {
  stage = await openOwnStage((origin) => ({ PASSKEY_ORIGINS: origin }))
  ada = await stage.person('ada')
  await addPasskey(ada)
})
afterAll(() => stage.close())

/** On a device that cannot unlock, so that the form that lets it is there. */
async function addPasskey(person: Person) {
  const { page } = person
  await attachAuthenticator(person, false)
  await page.goto(`${stage.origin}/console/account`)
  await press(page, 'Add passkey')
  await label(page, current).fill(PASSWORD)
  await label(page, 'Name').fill('Key')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Add passkey' }).click()
  await page.getByText('Signs in only').waitFor()
}

test('the table has every form of the console', () => {
  const screens = join(WEB, 'screens')
  const files = readdirSync(screens, { recursive: true, encoding: 'utf8' })
  const withForm = files.filter(
    (file) =>
      /\.tsx?$/.test(file) && /<(FieldForm|form)\b/.test(readFileSync(join(screens, file), 'utf8')),
  )
  const tested = new Set([...outside, firstRun, ...inside].map(({ file }) => file))
  expect(withForm.sort()).toEqual([...tested, ...ELSEWHERE, ...OPTIONAL].sort())
})

test('a form outside the account marks its empty fields, sends nothing and stays usable', async () => {
  const visitor = await stage.visitor('login')
  for (const form of outside) await sendEmpty(visitor.page, form)
  await visitor.judge()
  await visitor.close()
})

test('the form that unlocks marks an empty password, and unlocks with the password afterwards', async () => {
  const bob = await stage.personByScreen('bob')
  const { page } = bob
  await page.reload()
  await bob.sees('Unlock')
  await sendEmpty(page, { file: '', path: '', verb: 'Unlock', fields: ['Password'] })
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  await bob.sees('Overview')
  await bob.close()
})

/** Files with a form in a sheet or an inspector. The next test fills this. */
const guarded = new Set<string>()
const keptFromBack: string[] = []

test('a form inside the account marks its empty fields, sends nothing and stays usable', async () => {
  const { page } = ada
  await sendEmpty(page, firstRun, ada)
  await label(page, 'API key').fill('some value')
  await label(page, 'Name').fill('SOME_KEY')
  await label(page, 'Host').fill('api.example.com')
  await press(page, firstRun.verb)
  await page.getByText('Waiting for the call').waitFor()
  for (const form of inside) {
    await sendEmpty(page, form, ada)
    if (await keepsTyped(page, form)) guarded.add(form.file)
  }
  await ada.judge()
})

test('every sheet and inspector with a form asks before it discards what was typed', () => {
  const others = ['workspaces/', 'account/', 'audit/', 'allowlist/']
  const expected = inside.map(({ file }) => file)
  expect([...guarded]).toEqual([
    ...new Set(expected.filter((file) => !others.some((folder) => file.startsWith(folder)))),
  ])
  expect(keptFromBack).toEqual(['Create token'])
})

/** @returns false for a form in a dialog, whose Cancel button discards */
async function keepsTyped(page: Page, { verb, path }: Form): Promise<boolean> {
  const button = page.getByRole('button', { name: verb, exact: true }).last()
  const panel = page.locator('[data-sheet], [data-inspector]').filter({ has: button })
  if ((await panel.count()) === 0) return false
  const field = panel.locator('form input:not([type=radio]):visible, form textarea:visible').first()
  await field.fill('typed_text')
  const question = page.getByRole('alertdialog', { name: 'Discard changes?' })
  const keep = async () => {
    await question.getByRole('button', { name: 'Keep editing' }).click()
    await question.waitFor({ state: 'detached' })
    expect(await field.inputValue()).toBe('typed_text')
  }
  await page.keyboard.press('Escape')
  await keep()
  await panel.getByRole('button', { name: 'Close', exact: true }).click()
  await keep()
  if (await panel.evaluate((element) => element.hasAttribute('data-sheet'))) {
    await page.mouse.click(8, 400)
    expect(await field.inputValue()).toBe('typed_text')
  }
  // Any other form was opened by a load of the page, which the browser asks about.
  if (page.url().includes('?') && !path.includes('?')) {
    await page.evaluate(() => history.back())
    await keep()
    keptFromBack.push(verb)
  }
  expect(await warnsOfReload(page)).toBe(true)
  await field.focus()
  await page.keyboard.press('Escape')
  await question.getByRole('button', { name: 'Discard' }).click()
  await panel.waitFor({ state: 'detached' })
  expect(await warnsOfReload(page)).toBe(false)
  return true
}

function warnsOfReload(page: Page): Promise<boolean> {
  return page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
}

async function sendEmpty(page: Page, { path, verb, fields, open }: Form, person?: Person) {
  const address = `${stage.origin}/console/${path.replace('W', person?.workspaceId ?? '')}`
  if (page.url() !== address) await page.goto(address)
  await open?.(page)
  const button = page.getByRole('button', { name: verb, exact: true }).last()
  await button.waitFor()
  const sent: string[] = []
  const note = (request: { method(): string; url(): string }) => {
    if (request.method() !== 'GET') sent.push(request.url())
  }
  page.on('request', note)
  await button.click()
  const form = page.locator('form').filter({ has: button })
  const marked = form.locator('[data-field][data-invalid]')
  await marked.first().waitFor()
  const seen = await marked.evaluateAll((elements) =>
    elements.map((element) => ({
      label: element.querySelector('label, .react-aria-Label, span')?.textContent,
      error: element.querySelector('[data-field-error]')?.textContent,
      hasFocus: element.contains(document.activeElement),
    })),
  )
  page.off('request', note)
  const labels = fields.map((field) => field.replace('EMAIL', person?.email ?? ''))
  expect({ verb, seen, sent, isDisabled: await button.isDisabled() }).toEqual({
    verb,
    seen: labels.map((name, at) => ({
      label: name,
      error: `${name}: this field is required.`,
      hasFocus: at === 0,
    })),
    sent: [],
    isDisabled: false,
  })
}
