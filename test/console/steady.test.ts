// tier: all
/** Controls stay in place: a tour of the main screens measures the shift of every control. */
import { expect } from 'bun:test'
import type { Page, Request, Route } from 'playwright-core'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import type { Visitor } from './browser.ts'
import { callAs, openWorld, type Seed, type World } from './pictures/seeds.ts'
import { settle, watchRequests } from './settle.ts'
import { measureShift } from './shift.ts'

const { test, describe, beforeAll, afterAll } = requires('chromium')

const SCREENS = [
  ...['overview', 'secrets', 'agents', 'live', 'allowlist', 'members', 'audit', 'history'],
  ...['settings', '/account'],
] as const
/** Longer than data is taken for fresh, and than most intervals. */
const LATER_MS = 60_000
/** Controls that the pointer visits on each screen. */
const HOVERED = 30

let world: World
let seed: Seed
let ada: Visitor
let pending: ReadonlySet<Request>

beforeAll(async () => {
  world = await openWorld()
  seed = await world.seedOf('team')
  ada = await world.stage.enter(seed.account, 'account')
  pending = watchRequests(ada)
  await ada.page.setViewportSize({ width: 1280, height: 800 })
  await ada.page.clock.install()
  await ada.page.goto(addressOf('secrets'))
})
afterAll(async () => {
  await ada.close()
  await world.close()
})

const addressOf = (screen: string) =>
  `${world.stage.origin}/console${screen.startsWith('/') ? '' : `/w/${seed.workspaceId}/`}${screen}`

/** Opens a screen with as few answers of the server as its heading needs. @returns what lets the others through */
async function openWithoutData(page: Page, address: string): Promise<() => Promise<void>> {
  const held: Route[] = []
  let isOpen = false
  await page.route('**/api/**', async (route) => {
    if (isOpen || route.request().method() !== 'GET') await route.continue()
    else held.push(route)
  })
  await page.goto(address)
  const heading = page.getByRole('heading', { level: 1 }).first()
  const releaseOne = async () => {
    if (await heading.isVisible()) return true
    await held.shift()?.continue()
    return false
  }
  await until(releaseOne, { stepMs: 50 })
  return async () => {
    isOpen = true
    await Promise.all(held.map((route) => route.continue()))
    await page.unrouteAll({ behavior: 'wait' })
  }
}

describe.each(SCREENS)('the screen %s', (screen) => {
  test('controls stay in place when the data arrives', async () => {
    const { page } = ada
    const release = await openWithoutData(page, addressOf(screen))
    // A figure that is not read yet is not shown as 0.
    expect(await page.getByRole('main').evaluate(readableText)).not.toMatch(/(^|\D)0(\D|$)/)
    const moved = await measureShift(page, async () => {
      await release()
      await settle(page, pending)
    })
    expect(moved).toEqual([])
  })

  test('controls stay in place when the data is read again', async () => {
    const { page } = ada
    await settle(page, pending)
    const moved = await measureShift(page, async () => {
      await page.clock.fastForward(LATER_MS)
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
      await settle(page, pending)
    })
    expect(moved).toEqual([])
  })

  test('controls stay in place when agents make calls and ask for approval', async () => {
    const { page } = ada
    await restOnRow(page)
    const badge = page.getByRole('navigation').getByRole('link', { name: /^Live requests/ })
    const before = await badge.textContent()
    const moved = await measureShift(page, async () => {
      for (const host of ['one', 'two', 'three'])
        await callAs(
          world,
          seed,
          'deploy-bot',
          `https://${host}.${hostPart(screen)}.example/`,
          'STRIPE_KEY',
        )
      const refund = `https://api.stripe.com/v1/refunds/${hostPart(screen)}`
      const { body } = await callAs(world, seed, 'deploy-bot', refund, 'STRIPE_REFUND_KEY')
      expect(body).toMatchObject({ error_code: 'approval_required' })
      await page.clock.fastForward(LATER_MS)
      await settle(page, pending)
    })
    expect(moved).toEqual([])
    // The page has read the calls.
    expect(await badge.textContent()).not.toBe(before)
  })

  test('controls stay in place when the pointer passes over them', async () => {
    const { page } = ada
    await page.mouse.move(0, 0)
    // A list that was held shows what it held back.
    await settle(page, pending)
    const points = await page.evaluate(pointsOfControls, HOVERED)
    const moved = await measureShift(page, async () => {
      for (const { x, y } of points) await page.mouse.move(x, y)
    })
    expect(moved).toEqual([])
  })
})

const hostPart = (screen: string) => screen.replace('/', '')

/** A list holds still under the pointer. */
async function restOnRow(page: Page): Promise<void> {
  const row = page.getByRole('row').nth(3)
  if (await row.isVisible()) await row.hover()
  else await page.mouse.move(640, 500)
}

/** Runs in the page: the text of an element without what is only drawn. */
function readableText(element: Element): string {
  const copy = element.cloneNode(true) as Element
  for (const hidden of copy.querySelectorAll('[aria-hidden="true"]')) hidden.remove()
  return copy.textContent ?? ''
}

/** Runs in the page: the centers of the first controls that are in view. */
function pointsOfControls(most: number): { x: number; y: number }[] {
  const controls = [...document.querySelectorAll('a[href], button, [role=row]')]
  const boxes = controls.map((control) => control.getBoundingClientRect())
  return boxes
    .filter(({ width, bottom }) => width > 0 && bottom < innerHeight)
    .slice(0, most)
    .map(({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 }))
}
