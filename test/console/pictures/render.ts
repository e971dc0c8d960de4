/** Takes the pictures: each entry in its own browser context, at two sizes and in two color schemes. */
import { join } from 'node:path'
import type { Request } from 'playwright-core'
import type { Visitor } from '../browser.ts'
import { settle, watchRequests } from '../settle.ts'
import { type Entry, sceneOf } from './entry.ts'
import type { Seed, World } from './seeds.ts'

export const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const
export const SCHEMES = ['light', 'dark'] as const
/** Milliseconds for a control to appear: a missing one should not hold the others up, and a busy machine is slow. */
const PATIENCE_MS = 30_000

export const shots = SIZES.flatMap(({ width }) => SCHEMES.map((scheme) => `${width}-${scheme}`))

/** @throws Error if a control that the entry needs is missing, or if the page violates its policy */
export async function render(entry: Entry, world: World, folder: string): Promise<void> {
  const visitor = await enter(entry, world)
  try {
    await prepareScene(entry, world, visitor)
    if (entry.hasForcedColors) await visitor.page.emulateMedia({ forcedColors: 'active' })
    for (const size of SIZES) await takeBothSchemes(entry, visitor, size, folder)
  } finally {
    await visitor.close()
  }
}

export type Watched = Visitor & { pending: ReadonlySet<Request> }

/** Opens the entry's address in its own browser context. */
export async function enter(entry: Entry, world: World): Promise<Watched> {
  const seed = await world.seedOf(entry.seed ?? 'empty')
  const address = addressOf(entry, seed)
  const reader = seed.colleagues.at(-1)
  const isReader = entry.role === 'read_only'
  if (isReader && !reader) throw new Error(`the seed ${entry.seed} has no read-only member`)
  const account = isReader && reader ? reader : seed.account
  const { stage } = world
  const visitor = await (entry.seed ? stage.enter(account, address) : stage.visitor(address))
  visitor.page.setDefaultTimeout(PATIENCE_MS)
  return { ...visitor, pending: watchRequests(visitor) }
}

/** Below /console/. */
export function addressOf({ path }: Entry, { workspaceId }: Seed): string {
  return path.startsWith('/') ? path.slice(1) : `w/${workspaceId}/${path}`
}

/** Brings the page at the entry's address into its state, at the first size. */
export async function prepareScene(entry: Entry, world: World, visitor: Watched): Promise<void> {
  const { page, pending } = visitor
  const seed = await world.seedOf(entry.seed ?? 'empty')
  await page.setViewportSize(SIZES[0])
  await settle(page, pending)
  await entry.prepare?.(sceneOf(visitor, world, seed))
}

type Size = (typeof SIZES)[number]

async function takeBothSchemes(entry: Entry, visitor: Watched, size: Size, folder: string) {
  const { page, pending } = visitor
  await resize(entry, visitor, size)
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme })
    await settle(page, pending)
    const path = join(folder, `${entry.name}-${size.width}-${colorScheme}.png`)
    await page.screenshot({ path, animations: 'disabled' })
  }
}

/** Zoom at 200 % halves the page's size in CSS pixels. */
const resize = ({ isZoomed }: Entry, { page }: Visitor, { width, height }: Size): Promise<void> =>
  page.setViewportSize(
    isZoomed ? { width: Math.floor(width / 2), height: Math.floor(height / 2) } : { width, height },
  )
