/** Takes the pictures: each entry in its own browser context, at two sizes and in two color schemes. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Visitor } from '../browser.ts'
import { type Entry, sceneOf } from './entry.ts'
import type { Seed, World } from './seeds.ts'

const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const
const SCHEMES = ['light', 'dark'] as const
/** Milliseconds for a control to appear: a missing one should not hold the others up. */
const PATIENCE_MS = 10_000

export const shots = SIZES.flatMap(({ width }) => SCHEMES.map((scheme) => `${width}-${scheme}`))

/** @throws Error if a control that the entry needs is missing, or if the page violates its policy */
export async function render(entry: Entry, world: World, folder: string): Promise<void> {
  const seed = await world.seedOf(entry.seed ?? 'empty')
  const visitor = await enter(entry, world, seed)
  const { page } = visitor
  try {
    page.setDefaultTimeout(PATIENCE_MS)
    await page.setViewportSize(SIZES[0])
    await settle(page)
    await entry.prepare?.(sceneOf(visitor, world, seed))
    if (entry.hasForcedColors) await page.emulateMedia({ forcedColors: 'active' })
    for (const size of SIZES) await takeBothSchemes(entry, visitor, size, folder)
  } finally {
    await page.context().setOffline(false)
    await visitor.close()
  }
}

function enter({ seed: name, role, path }: Entry, { stage }: World, seed: Seed): Promise<Visitor> {
  const address = path.startsWith('/') ? path.slice(1) : `w/${seed.workspaceId}/${path}`
  if (name === undefined) return stage.visitor(address)
  const reader = seed.colleagues.at(-1)
  if (role === 'read_only' && !reader) throw new Error(`the seed ${name} has no read-only member`)
  return stage.enter(role === 'read_only' && reader ? reader : seed.account, address)
}

type Size = (typeof SIZES)[number]

async function takeBothSchemes(entry: Entry, visitor: Visitor, size: Size, folder: string) {
  const { page } = visitor
  await resize(entry, visitor, size)
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme })
    await settle(page)
    const path = join(folder, `${entry.name}-${size.width}-${colorScheme}.png`)
    await page.screenshot({ path, animations: 'disabled' })
  }
}

async function resize({ isZoomed }: Entry, { page, tools }: Visitor, size: Size): Promise<void> {
  if (!isZoomed) return page.setViewportSize(size)
  await tools.send('Emulation.setDeviceMetricsOverride', {
    width: Math.floor(size.width / 2),
    height: Math.floor(size.height / 2),
    deviceScaleFactor: 2,
    mobile: false,
  })
}

/** Waits until nothing loads, so that the picture shows data and the final fonts. */
async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForFunction(
    () =>
      document.querySelector('.loading, [aria-busy="true"]') === null &&
      document.fonts.status === 'loaded',
  )
}
