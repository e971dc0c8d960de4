/** Takes the pictures: each entry in its own browser context, at two sizes and in two color schemes. */
import { join } from 'node:path'
import type { Request } from 'playwright-core'
import type { Visitor } from '../browser.ts'
import { settle, watchRequests } from '../settle.ts'
import { type Entry, sceneOf } from './entry.ts'
import type { Seed, World } from './seeds.ts'

const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const
const SCHEMES = ['light', 'dark'] as const
/** Milliseconds for a control to appear: a missing one should not hold the others up, and a busy machine is slow. */
const PATIENCE_MS = 30_000

export const shots = SIZES.flatMap(({ width }) => SCHEMES.map((scheme) => `${width}-${scheme}`))

/** @throws Error if a control that the entry needs is missing, or if the page violates its policy */
export async function render(entry: Entry, world: World, folder: string): Promise<void> {
  const seed = await world.seedOf(entry.seed ?? 'empty')
  const visitor = await enter(entry, world, seed)
  const { page } = visitor
  const pending = watchRequests(visitor)
  try {
    page.setDefaultTimeout(PATIENCE_MS)
    await page.setViewportSize(SIZES[0])
    await settle(page, pending)
    await entry.prepare?.(sceneOf(visitor, world, seed))
    if (entry.hasForcedColors) await page.emulateMedia({ forcedColors: 'active' })
    for (const size of SIZES) await takeBothSchemes(entry, { ...visitor, pending }, size, folder)
  } finally {
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

type Watched = Visitor & { pending: ReadonlySet<Request> }

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
