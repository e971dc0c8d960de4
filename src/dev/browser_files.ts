/**
 * Replaces a file `name.ts` by the `name.browser.ts` beside it for browsers, and zod by `zod.browser.ts`. The console's
 * build and the tests of its crypto resolve imports with this plugin.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { BunPlugin } from 'bun'

const SOURCE = join(import.meta.dir, '..')
const ZOD = join(SOURCE, 'core', 'validation', 'zod.browser.ts')

export const browserFiles: BunPlugin = {
  name: 'browser-files',
  setup: (build) => {
    build.onResolve({ filter: /^zod$/ }, () => ({ path: ZOD }))
    build.onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, importer }) => {
      const asked = join(resolveDir || join(importer, '..'), path)
      const own = asked.replace(/\.ts$/, '.browser.ts')
      const isOurs = asked.startsWith(SOURCE) && !asked.endsWith('.browser.ts')
      return isOurs && importer !== own && existsSync(own) ? { path: own } : undefined
    })
  },
}
