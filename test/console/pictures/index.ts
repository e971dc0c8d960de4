/**
 * Renders the console's review pictures in light and dark, at 1280×800 and 390×844, with one Chromium and one server:
 *
 * bun run console:pictures [--out FOLDER] [--mock-ups FOLDER] [words]
 *
 * Words select pictures by name. The folder's index.html shows each picture beside its mock-up, if there is one named
 * like it. The exit code is 1 if a picture could not be taken.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { removePlaces } from '../../support/places.ts'
import { sharedBrowser } from '../browser.ts'
import { allEntries } from './entries/index.ts'
import { writeGallery } from './gallery.ts'
import { render } from './render.ts'
import { openWorld } from './seeds.ts'

const DEFAULT_FOLDER = join(import.meta.dir, '..', '..', '..', 'dist', 'console-pictures')
/** Contexts that are open at the same time: a page often waits. */
const LANES = 2

const { values, positionals: words } = parseArgs({
  options: {
    out: { type: 'string', default: DEFAULT_FOLDER },
    'mock-ups': { type: 'string' },
  },
  allowPositionals: true,
})

async function takePictures(): Promise<number> {
  const started = Date.now()
  const folder = resolve(values.out)
  mkdirSync(folder, { recursive: true })
  const entries = allEntries.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  )
  const world = await openWorld()
  const failures = new Map<string, string>()
  const queue = [...entries]
  const work = async () => {
    for (let entry = queue.shift(); entry; entry = queue.shift()) {
      const { name } = entry
      await render(entry, world, folder).catch((error: unknown) => {
        failures.set(name, error instanceof Error ? error.message : String(error))
        process.stderr.write(`${name}: ${failures.get(name)}\n\n`)
      })
    }
  }
  await Promise.all(Array.from({ length: LANES }, work))
  await world.close()
  await (await sharedBrowser()).close()
  const mockUps = values['mock-ups'] === undefined ? undefined : resolve(values['mock-ups'])
  const index = await writeGallery(entries, { folder, mockUps, failures })
  const seconds = Math.round((Date.now() - started) / 1000)
  process.stdout.write(
    `${entries.length - failures.size} of ${entries.length} pictures in ${seconds} s: ${index}\n`,
  )
  return failures.size === 0 ? 0 : 1
}

try {
  process.exitCode = await takePictures()
} finally {
  removePlaces()
}
