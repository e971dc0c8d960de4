/** One picture of the review set: where it is taken, and what is done before. */
import type { Locator, Page } from 'playwright-core'
import type { Visitor } from '../browser.ts'
import type { Seed, SeedName, World } from './seeds.ts'

export type Scene = Pick<Visitor, 'page' | 'tools'> & {
  world: World
  seed: Seed
  button(name: string | RegExp): Locator
  field(name: string): Locator
}

export type Entry = {
  /** The name of its files, before the width and the color scheme. */
  name: string
  /** The state of Acme. A picture without one shows the server to a visitor who is not signed in. */
  seed?: SeedName
  /** The role in Acme; the owner unless given. */
  role?: 'owner' | 'read_only'
  /** Below the workspace, or with a leading slash below /console. */
  path: string
  /** The name of the mock-up that it is compared with, if it is not the picture's. */
  mockUp?: string
  /** Finds controls by role and name, so that the picture fails if one is missing. */
  prepare?(scene: Scene): Promise<unknown>
  /** At 200 % zoom. The pictures have half the size. */
  isZoomed?: boolean
  hasForcedColors?: boolean
}

export function sceneOf({ page, tools }: Visitor, world: World, seed: Seed): Scene {
  return {
    ...{ page, tools, world, seed },
    button: (name) => page.getByRole('button', { name, exact: true }),
    field: (name) => page.getByLabel(name, { exact: true }),
  }
}

/** Runs in the page: makes every text 35 % longer, as other languages are, but not names and values. */
export function lengthenTexts(): void {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent ?? ''
    const isText = /\p{L}{3}/u.test(text) && !/^[A-Z0-9_]+$/.test(text)
    if (isText && !node.parentElement?.closest('code, script, style'))
      node.textContent = text + 'ëñ '.repeat(Math.ceil((text.length * 0.35) / 3)).trimEnd()
  }
}

export async function pressLock(page: Page): Promise<void> {
  await page.keyboard.press('Control+Shift+L')
  await page.getByRole('button', { name: 'Unlock', exact: true }).waitFor()
}
