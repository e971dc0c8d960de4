// tier: all
/** Checks every screen. The first test fails for a screen that is not in the table. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { brokenRules } from './bars.ts'
import { type OwnStage, openOwnStage, type Person, type Visitor } from './browser.ts'
import { elsewhere } from './elsewhere.ts'

const { test, describe, beforeAll, afterAll } = requires('chromium')

/** Each route of the router, with its visitor and heading. */
const screens = [
  { route: '/login', who: 'nobody', heading: 'Sign in' },
  { route: '/register', who: 'nobody', heading: 'Create account' },
  { route: '/recover', who: 'nobody', heading: 'Recover your account' },
  { route: '/workspaces', who: 'ada', heading: 'Workspaces' },
  { route: '/account', who: 'ada', heading: 'Account' },
  { route: '/invitation', who: 'ada', heading: 'Invitation' },
  { route: '/instance', who: 'ada', heading: 'Instance' },
  { route: '/w/$workspaceId/overview', who: 'ada', heading: 'Overview' },
  { route: '/w/$workspaceId/first-steps', who: 'ada', heading: 'Make your first call' },
  { route: '/w/$workspaceId/secrets', who: 'ada', heading: 'Secrets' },
  { route: '/w/$workspaceId/agents', who: 'ada', heading: 'Agents' },
  { route: '/w/$workspaceId/live', who: 'ada', heading: 'Live requests' },
  { route: '/w/$workspaceId/allowlist', who: 'ada', heading: 'Allowed hosts' },
  { route: '/w/$workspaceId/members', who: 'ada', heading: 'Members' },
  { route: '/w/$workspaceId/audit', who: 'ada', heading: 'Audit log' },
  { route: '/w/$workspaceId/history', who: 'ada', heading: 'Signed history' },
  { route: '/w/$workspaceId/settings', who: 'ada', heading: 'Settings' },
] as const
/** Routes that redirect. */
const redirects = ['/', '/w/$workspaceId']

function named(name: string) {
  const screen = screens.find(({ route }) => route.endsWith(`/${name}`))
  if (!screen) throw new Error(`there is no screen ${name}`)
  return screen
}

/** The longest wait of the page before it retries an unavailable server. */
const AGAIN_MS = 5_000

let stage: OwnStage
let visitors: { ada: Person; nobody: Visitor }
let there: Awaited<ReturnType<typeof elsewhere>>

beforeAll(async () => {
  stage = await openOwnStage()
  const [ada, nobody] = [await stage.person('ada', 'account'), await stage.visitor('login')]
  visitors = { ada, nobody }
  there = await elsewhere(stage.app.controlPlane, ada.email)
  const { api, workspace } = there
  const { id: projectId } = await api.call(createProject, {
    body: { name: 'billing', workspace_id: workspace.id },
  })
  const place = { api, workspace, projectId, environment: 'production' }
  const secret = { key: 'STRIPE_KEY', value: marked('sk_'), policy: null, expectedVersion: 0 }
  await uploadSecrets(place, [secret], true)
  const terms = { environment: 'production', order: {}, places: [] }
  await registerWithToken({ api, workspace }, { name: 'deploy-bot', projectId }, terms)
})
afterAll(async () => {
  await Promise.all(Object.values(visitors).map((visitor) => visitor.close()))
  await stage.close()
})

/** Navigates without loading the page again. */
async function open({ route, who, heading }: (typeof screens)[number]): Promise<Visitor> {
  const visitor = visitors[who]
  const { page } = visitor
  const address = route.replace('$workspaceId', there.workspace.id)
  await page.evaluate((to) => Reflect.get(globalThis, '__TSR_ROUTER__').navigate({ to }), address)
  await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor()
  await page.waitForFunction(() => document.querySelector('[data-loading]') === null)
  return visitor
}

test('every address of the router is in the table', async () => {
  const routes = await visitors.nobody.page.evaluate(() =>
    Object.keys(Reflect.get(globalThis, '__TSR_ROUTER__').routesByPath),
  )
  const known = [...screens.map(({ route }) => route), ...redirects]
  expect(routes.sort()).toEqual(known.sort())
})

describe.each(screens)('$route', (screen) => {
  test('the screen is accessible in dark and light, wide and on a phone, and never scrolls sideways', async () => {
    const { page, judge } = await open(screen)
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 })
      await page.emulateMedia({ colorScheme: 'dark' })
      await judge()
      await page.emulateMedia({ colorScheme: 'light' })
      await judge({ only: 'colors' })
      expect(await brokenRules(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      const content = page.locator('#content, main').first()
      expect(await content.evaluate((main) => main.scrollWidth - main.clientWidth)).toBe(0)
    }
    await page.setViewportSize({ width: 1280, height: 844 })
    expect(await page.title()).toBe(`${screen.heading} · Cloakroom`)
  })

  test('Tab reaches every control of the screen, each with a visible focus, and leaves the screen again', async () => {
    const { page } = await open(screen)
    await page.evaluate(watchFocus)
    const count = await page.evaluate(() => Reflect.get(globalThis, 'controls').length)
    expect(count).toBeGreaterThan(2)
    // A field of a date has several stops in it; and past the last part it begins again.
    for (let presses = 0; presses < 2 * count; presses += 1) await page.keyboard.press('Tab')
    expect(await page.evaluate(() => Reflect.get(globalThis, 'report')())).toEqual([])
  })
})

/** Runs in the page: collects all controls, and records what is wrong with the focus on each. */
function watchFocus(): void {
  const isShown = (element: HTMLElement) => element.checkVisibility({ visibilityProperty: true })
  const found = document.querySelectorAll<HTMLElement>(
    'a[href], button, input, textarea, [tabindex]',
  )
  const controls = [...found].filter(
    (element) => isShown(element) && element.tabIndex >= 0 && !element.matches(':disabled'),
  )
  const reached = new Set<EventTarget | null>()
  const wrong: string[] = []
  const isMarked = (target: HTMLElement, shown: HTMLElement) => {
    // A search field shows it by a ring around its icon and its text.
    const field = target.matches('input') ? target.parentElement : null
    if (field !== null && getComputedStyle(field).boxShadow !== 'none') return true
    const drawn = [shown, ...shown.querySelectorAll('*')]
    return drawn.some((element) => getComputedStyle(element).outlineStyle !== 'none')
  }
  const look = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement)) return
    reached.add(target)
    // If a label draws the control, the label shows the focus.
    const shown = target.closest<HTMLElement>('label') ?? target
    if (!isMarked(target, shown)) wrong.push(`no focus to be seen: ${target.outerHTML}`)
    const { left, top, width, height } = shown.getBoundingClientRect()
    const above = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 8))
    if (!above || !(shown.contains(above) || above.contains(shown)))
      wrong.push(`covered or out of sight: ${target.outerHTML} by ${above?.outerHTML}`)
  }
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  Reflect.set(globalThis, 'controls', controls)
  addEventListener('focusin', look)
  Reflect.set(globalThis, 'report', () => {
    removeEventListener('focusin', look)
    const missed = controls.filter((control) => control.isConnected && !reached.has(control))
    return [...wrong, ...missed.map(({ outerHTML }) => `not reached: ${outerHTML}`)]
  })
}

/** The focus returns a moment after its overlay has closed. */
const focusIsOn = (page: Page, name: string) =>
  page.waitForFunction((wanted) => {
    const { activeElement } = document
    const said = activeElement?.getAttribute('aria-label') ?? activeElement?.textContent
    return activeElement !== document.body && said?.startsWith(wanted)
  }, name)

test('the skip link leads to the content, and the palette, menus and dialogs return the focus', async () => {
  const { page } = await open(named('members'))
  await page.evaluate(
    () => document.activeElement instanceof HTMLElement && document.activeElement.blur(),
  )
  await page.getByRole('link', { name: 'Skip to content' }).press('Enter')
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('content')
  await page.keyboard.press('Tab')
  await focusIsOn(page, 'Invite member')
  // Caps Lock makes no difference.
  await page.keyboard.press('Control+K')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await focusIsOn(page, 'Invite member')
  await page.getByRole('button', { name: 'Account menu' }).press('Enter')
  await page.getByRole('menu').waitFor()
  await page.keyboard.press('Escape')
  await focusIsOn(page, 'Account menu')
  await open(named('settings'))
  await page.getByRole('button', { name: 'Rename' }).press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await focusIsOn(page, 'Rename')
})

test('the palette opens another screen, whose heading takes the focus', async () => {
  const { page } = await open(named('settings'))
  await page
    .getByRole('navigation')
    .getByRole('button', { name: /^Search/ })
    .press('Enter')
  await page.keyboard.type('workspaces')
  await page.getByRole('menuitem', { name: 'Workspaces' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Workspaces', level: 1 }).waitFor()
  await page.waitForFunction(() => document.activeElement?.textContent === 'Workspaces')
})

test('keys open areas after G, list themselves with ?, and are off in fields and dialogs', async () => {
  const { page, judge } = await open(named('members'))
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await judge()
  await page.keyboard.press('g')
  await page.keyboard.press('m')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(page.url()).toEndWith('/settings')
  await open(named('members'))
  await page.keyboard.press('n')
  await page.getByRole('dialog', { name: 'Invite a member' }).waitFor()
  await page.keyboard.press('n')
  expect(await page.getByLabel('Email').inputValue()).toBe('n')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Discard' }).click()
})

test('J and K lead to the list from anywhere, / leads to its filter, and ? lists these keys', async () => {
  const { page } = await open(named('agents'))
  await page.locator('[data-row="0"]').waitFor()
  const rowInFocus = (row: string) =>
    page.waitForFunction((wanted) => {
      const found = document.activeElement?.closest('[data-row]')?.getAttribute('data-row')
      return found === wanted
    }, row)
  await page.locator('h1').focus()
  await page.keyboard.press('j')
  await rowInFocus('0')
  await page.keyboard.press('k')
  await rowInFocus('-1')
  await page.locator('h1').focus()
  await page.keyboard.press('Control+/')
  await page.keyboard.press('/')
  await page.waitForFunction(
    () => document.activeElement?.getAttribute('aria-keyshortcuts') === '/',
  )
  await page.locator('h1').focus()
  await page.keyboard.press('?')
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  const keys = await list.locator('kbd').allInnerTexts()
  expect(keys).toEqual(expect.arrayContaining(['/', 'J', 'K', 'N', 'ENTER', 'ESC', '?']))
  expect(new Set(keys).size).toBe(keys.length)
  await page.keyboard.press('Escape')
})

test('toasts float in the corner, stay while they have the focus, and F6 leads to them', async () => {
  const { page, judge } = await open(named('workspaces'))
  await page.clock.install()
  for (const name of ['One', 'Two']) {
    await page.getByRole('button', { name: 'Create workspace' }).click()
    await page.getByLabel('Workspace name').fill(name)
    await page.keyboard.press('Enter')
    await page.getByText(`Created ${name}.`).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await judge()
  const corner = await page.locator('[data-toasts]').evaluate((region) => {
    const { right, bottom } = region.getBoundingClientRect()
    return [innerWidth - right, innerHeight - bottom]
  })
  // Above the bar of selected rows.
  expect(corner).toEqual([16, 72])
  await page.keyboard.press('F6')
  const notices = page.getByRole('region', { name: 'Notices' })
  expect(await notices.evaluate((region) => region === document.activeElement)).toBe(true)
  await page.clock.fastForward(20_000)
  for (const notice of [1, 2]) {
    await notices.getByRole('button', { name: 'Close notice 1' }).press('Enter')
    expect(await notices.getByRole('alertdialog').count()).toBe(2 - notice)
  }
})

describe('an unavailable server', () => {
  test('an unavailable server is reported on every screen, loses nothing that was read or typed, and is retried', async () => {
    // Each screen's code is loaded before the server stops.
    for (const screen of screens.filter(({ who }) => who === 'ada')) await open(screen)
    const { page } = await open(named('members'))
    await page.getByRole('button', { name: 'Invite member' }).click()
    const email = page.getByLabel('Email')
    await email.fill('bob@example.com')
    await stage.stop()
    await page.getByRole('button', { name: 'Continue' }).click()
    const said = page.getByText('The server is unavailable. You see')
    await said.waitFor()
    const failed = page.getByText('The server is unavailable.', { exact: true })
    await failed.waitFor()
    expect(await email.inputValue()).toBe('bob@example.com')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('rowheader', { name: visitors.ada.email }).waitFor()
    for (const screen of screens.filter(({ who }) => who === 'ada')) {
      await open(screen)
      expect(await said.isVisible()).toBe(true)
    }
    await visitors.ada.judge()
    await stage.start()
    await page.clock.fastForward(AGAIN_MS)
    await said.waitFor({ state: 'detached' })
    await failed.waitFor({ state: 'detached' })
    await open(named('members'))
    await page.getByRole('rowheader', { name: visitors.ada.email }).waitFor()
  }, 60_000)

  test.each([
    { status: 500, contentType: 'application/json', body: '{"error_code":"internal_error"}' },
    { status: 503, contentType: 'application/json', body: '{"error_code":"unavailable"}' },
    { status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' },
  ])('a server that answers $status $contentType loses nothing that was read', async (answer) => {
    const { page } = await open(named('members'))
    await page.route('**/api/**', (route) => route.fulfill(answer))
    // Cached data is now old enough to be read again.
    await page.clock.install({ time: Date.now() + 60_000 })
    await open(named('audit'))
    await open(named('members'))
    await page.getByText('The server is unavailable. You see').waitFor()
    await page.getByRole('rowheader', { name: visitors.ada.email }).waitFor()
    await page.unroute('**/api/**')
    await page.clock.fastForward(AGAIN_MS)
    await page.getByText('The server is unavailable. You see').waitFor({ state: 'detached' })
  })
})
