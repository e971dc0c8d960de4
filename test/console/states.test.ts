// tier: all
/**
 * Axe finds nothing in any sheet, inspector, dialog, menu, tooltip or empty screen, nor in the palette: in dark and light,
 * wide and on a phone. The states are those of the review pictures.
 */
import { expect } from 'bun:test'
import { requires } from '../support/requires.ts'
import { brokenRules } from './bars.ts'
import { everywhere } from './pictures/entries/everywhere.ts'
import { secretScreens } from './pictures/entries/secrets.ts'
import { workspaceScreens } from './pictures/entries/workspace.ts'
import type { Entry } from './pictures/entry.ts'
import { addressOf, enter, prepareScene, SIZES, type Watched } from './pictures/render.ts'
import { openWorld, type World } from './pictures/seeds.ts'

const { test, beforeAll, afterAll } = requires('chromium')

/** In screens.test.ts, or without an effect on roles and colors. */
const ELSEWHERE = /^(server|longer)-/
/** Screens with data, as they open, are those of screens.test.ts. */
const states = [...secretScreens, ...workspaceScreens, ...everywhere].filter(
  ({ name, prepare, seed }) => (prepare || seed === 'empty') && !ELSEWHERE.test(name),
)

let world: World
/** By account: a new browser context for each state would take most of the time. */
const visitors = new Map<string, Promise<Watched>>()

beforeAll(async () => {
  world = await openWorld()
})
afterAll(async () => {
  for (const visitor of visitors.values()) await (await visitor).close()
  await world.close()
})

async function open(entry: Entry): Promise<Watched> {
  const account = `${entry.seed} ${entry.role}`
  const known = await visitors.get(account)
  if (!known) {
    const entered = enter(entry, world)
    visitors.set(account, entered)
    return entered
  }
  const { page } = known
  const address = addressOf(entry, await world.seedOf(entry.seed ?? 'empty'))
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.mouse.move(0, 0)
  await page.goto(`${world.stage.origin}/console/${address}`)
  return known
}

test('the states include each kind of overlay', () => {
  const names = states.map(({ name }) => name)
  for (const kind of ['secrets-add', 'secrets-policy', 'secrets-delete', 'account-menu', 'palette'])
    expect(names).toContain(kind)
  expect(names.length).toBeGreaterThan(40)
})

test.each(states)('axe reports no problem in the state $name', async (entry) => {
  const visitor = await open(entry)
  const { page, judge, report } = visitor
  await prepareScene(entry, world, visitor)
  for (const size of SIZES) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme: 'dark' })
    await judge({ reveals: true })
    expect(await brokenRules(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })
    await judge({ reveals: true, only: 'colors' })
  }
  report()
})
