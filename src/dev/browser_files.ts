/**
 * Where a file `name.ts` has a `name.browser.ts` beside it, browsers get that one. The build of the console and
 * the tests of its crypto resolve imports by this.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { BunPlugin } from 'bun'

const SOURCE = join(import.meta.dir, '..')

export const browserFiles: BunPlugin = {
  name: 'browser-files',
  setup: (build) => {
    build.onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, importer }) => {
      const asked = join(resolveDir || join(importer, '..'), path)
      const own = asked.replace(/\.ts$/, '.browser.ts')
      const isOurs = asked.startsWith(SOURCE) && !asked.endsWith('.browser.ts')
      return isOurs && importer !== own && existsSync(own) ? { path: own } : undefined
    })
  },
}

/** zod carries the complaints of fifty languages; ours are English, and texts of the console. */
export const withoutLanguages: BunPlugin = {
  name: 'without-languages',
  setup: (build) => {
    build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: `export { default as en } from './en.js'`,
      loader: 'js',
    }))
  },
}
