/** The console's stylesheet and fonts: Tailwind's utilities that the sources use, and subsets of two font families. */
import { join } from 'node:path'
import type { BunPlugin } from 'bun'
import subsetFont from 'subset-font'
import { compile } from 'tailwindcss'

const ROOT = join(import.meta.dir, '..', '..')
const WEB = join(ROOT, 'src', 'console', 'web')
const PACKAGES = join(ROOT, 'node_modules')

/** Characters that may be part of a class name. Tailwind ignores words that name no utility. */
const CLASS_NAME = /[\w@:./[\]()#%,!*&>+~=-]+/g

function asciiAnd(others: string): string {
  const ascii = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at))
  return ascii.join('') + others
}

const LATIN_1 = Array.from({ length: 96 }, (_, at) => String.fromCharCode(160 + at)).join('')

/** Characters outside of a subset are drawn in the system's font. */
const FONTS = [
  {
    name: 'inter',
    file: '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
    characters: asciiAnd(`${LATIN_1}–—‘’“”…•−×`),
    weights: { min: 400, max: 600 },
  },
  {
    name: 'jetbrains-mono',
    file: '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
    characters: asciiAnd('…•·–'),
    weights: 400,
  },
] as const

/** Font files by their names below a path, and the address of each one for the stylesheet. */
export async function consoleFonts(below = '/console/') {
  const files = new Map<string, Uint8Array>()
  const addresses = new Map<string, string>()
  for (const { name, file, characters, weights } of FONTS) {
    const whole = Buffer.from(await Bun.file(join(PACKAGES, file)).arrayBuffer())
    const options = { targetFormat: 'woff2', variationAxes: { wght: weights } } as const
    const bytes = new Uint8Array(await subsetFont(whole, characters, options))
    const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 8)
    const path = `assets/${name}-${hash}.woff2`
    files.set(path, bytes)
    addresses.set(name, `${below}${path}`)
  }
  return { files, addresses }
}

type IsStyled = (name: string) => boolean

/** Compiles styles/index.css for the classes of some sources. `{name}` of a font in it becomes the font's address. */
export function consoleStyle(fonts: ReadonlyMap<string, string>, isStyled: IsStyled): BunPlugin {
  return {
    name: 'console-style',
    setup: (build) => {
      build.onLoad({ filter: /console\/web\/styles\/index\.css$/ }, async ({ path }) => {
        return { contents: await compileStyle(path, fonts, isStyled), loader: 'css' }
      })
    },
  }
}

/** Compiles a stylesheet for the classes of some sources, none if left out. */
export async function compileStyle(
  path: string,
  fonts: ReadonlyMap<string, string>,
  isStyled: IsStyled = () => false,
): Promise<string> {
  const loadStylesheet = async (id: string, base: string) => {
    const file = id.startsWith('.') ? join(base, id) : join(PACKAGES, id)
    return { path: file, base: join(file, '..'), content: await Bun.file(file).text() }
  }
  const style = await Bun.file(path).text()
  const { build } = await compile(style, { base: join(path, '..'), loadStylesheet })
  const words = new Set<string>()
  for await (const name of new Bun.Glob('**/*.{ts,tsx}').scan(WEB)) {
    if (name.startsWith('texts/') || !isStyled(name)) continue
    for (const [word] of (await Bun.file(join(WEB, name)).text()).matchAll(CLASS_NAME))
      words.add(word)
  }
  return build([...words].sort()).replace(/\{(inter|jetbrains-mono)\}/g, (_, name: string) => {
    const address = fonts.get(name)
    if (!address) throw new Error(`the stylesheet names a font that is not built: ${name}`)
    return address
  })
}
