/**
 * Makes dist/console.tar: the web console as it is served (src/console/serve.ts), each file compressed twice, for
 * browsers that take Brotli and those that do not. The hash of the bundle is the SHA-256 of its SHA256SUMS, so that
 * `sha256sum` is all that is needed to compare what a server delivers with what a release publishes.
 *
 * bun src/dev/console.ts [--force]
 */
import { join } from 'node:path'
import type { BunPlugin } from 'bun'
import { browserFiles } from './browser_files.ts'
import { type Compressed, compressAll, ensureArchive, type Files } from './built_archive.ts'
import { consoleFonts, consoleStyle } from './console_style.ts'

const ROOT = join(import.meta.dir, '..', '..')
const WEB = join(ROOT, 'src', 'console', 'web')
/** Inputs of the bundle: a change of one makes another bundle. */
const INPUTS = [
  'src/console/web',
  'src/client',
  'src/sigchain',
  'src/http',
  'src/core',
  'src/features',
]
const SINGLE_INPUTS = [
  'bun.lock',
  'src/dev/console.ts',
  'src/dev/console_style.ts',
  'src/dev/browser_files.ts',
  'src/dev/archive.ts',
  'src/dev/built_archive.ts',
]

/** Bytes on the wire until the first screen, by Brotli, with the keys worker, without Argon2 and fonts. */
export const FIRST_LOAD_BYTES = 235_000

/** Modules that only this runtime has. */
const RUNTIME_ONLY =
  /[^\w.](?<!SERVICE_TOKEN(?:: token)? } = )(Buffer\.|Bun\.|process\.(env|platform|nextTick))/
/** Characters that an error shows on either side of a match. */
const CONTEXT = 60

/** Does nothing if the archive is that of these sources. */
export function ensureConsole(force = false): Promise<void> {
  const source = { name: 'console', folders: INPUTS, files: SINGLE_INPUTS, force }
  return ensureArchive(source, async () => {
    const { files, first } = await buildConsole()
    const compressed = await compressAll(files)
    requireSmall(compressed, first)
    return compressed
  })
}

/** Returns all files by their names below /console/, and the names of those that the first screen loads. */
async function buildConsole(): Promise<{ files: Files; first: string[] }> {
  const { files, first } = await bundlePage(join(WEB, 'main.tsx'), isReleased)
  files.set('SHA256SUMS', new TextEncoder().encode(sumsOf(files)))
  return { files, first }
}

/** No part of a release. */
const isReleased = (name: string) => !/^(design|docs)\//.test(name)

/** Bundles a page with its worker, styles and fonts. `isStyled` decides which sources contain class names. */
export async function bundlePage(path: string, isStyled: (name: string) => boolean) {
  const argon2 = await bundle([join(ROOT, 'src', 'client', 'account', 'argon2_worker.ts')])
  const [argon2Name] = argon2.entries
  const fonts = await consoleFonts()
  const page = await bundle(
    [path, join(WEB, 'keys', 'worker.ts')],
    { ARGON2_WORKER: JSON.stringify(`/console/${argon2Name}`) },
    [consoleStyle(fonts.addresses, isStyled)],
  )
  const [main = '', worker = ''] = page.entries
  const style = [...page.files.keys()].find((name) => name.endsWith('.css')) ?? ''
  const first = [...page.reachedBy(main), ...page.reachedBy(worker), style]
  const files: Files = new Map([...argon2.files, ...page.files, ...fonts.files])
  const preloaded = page.reachedBy(main).filter((name) => name !== main)
  const index = await Bun.file(join(WEB, 'index.html')).text()
  const named = { main, worker, style }
  const text = index
    .replace(/\{(main|worker|style)\}/g, (_, key: keyof typeof named) => `/console/${named[key]}`)
    .replace(
      '{preloads}',
      preloaded.map((name) => `<link rel="modulepreload" href="/console/${name}">`).join(''),
    )
  files.set('index.html', new TextEncoder().encode(text))
  return { files, first: ['index.html', ...new Set(first)] }
}

async function bundle(
  entrypoints: string[],
  define: Record<string, string> = {},
  plugins: readonly BunPlugin[] = [],
) {
  const built = await Bun.build({
    entrypoints,
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    metafile: true,
    naming: {
      entry: 'assets/[name]-[hash].[ext]',
      chunk: 'assets/part-[hash].[ext]',
      asset: 'assets/[name]-[hash].[ext]',
    },
    plugins: [browserFiles, ...plugins],
    external: ['/console/*'],
    define: { 'process.env.NODE_ENV': '"production"', ...define },
  })
  const nameOf = (path: string) => path.replace(/^\.\//, '')
  const files: Files = new Map()
  for (const output of built.outputs)
    files.set(nameOf(output.path), new Uint8Array(await output.arrayBuffer()))
  requireNeutral(files)
  const outputs = new Map(
    Object.entries(built.metafile?.outputs ?? {}).map(([path, output]) => [nameOf(path), output]),
  )
  const listReached = (entry: string): string[] => {
    const reached = new Set([entry])
    for (const name of reached) {
      for (const { path, kind } of outputs.get(name)?.imports ?? []) {
        if (kind === 'import-statement' && outputs.has(nameOf(path))) reached.add(nameOf(path))
      }
    }
    return [...reached]
  }
  const entries = built.outputs
    .filter(({ kind, path }) => kind === 'entry-point' && path.endsWith('.js'))
    .map(({ path }) => nameOf(path))
  return { files, reachedBy: listReached, entries }
}

/** Code that only this runtime has would fail in a browser, and only when it is called. */
function requireNeutral(files: Files): void {
  for (const [name, bytes] of files) {
    if (!name.endsWith('.js')) continue
    const text = new TextDecoder().decode(bytes)
    const at = text.search(RUNTIME_ONLY)
    if (at < 0) continue
    const found = text.slice(Math.max(0, at - CONTEXT), at + CONTEXT)
    throw new Error(`${name} needs what browsers lack: ${found}`)
  }
}

/** @throws Error for a first load that is too large */
function requireSmall(compressed: readonly Compressed[], first: readonly string[]): void {
  const sizes = compressed
    .filter(({ name }) => first.includes(name))
    .map(({ name, br }) => ({ name, bytes: br.length }))
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  process.stderr.write(
    `The console's first load: ${Math.round(total / 1000)} kB of ${FIRST_LOAD_BYTES / 1000}.\n`,
  )
  if (total <= FIRST_LOAD_BYTES) return
  throw new Error(`the first load of the console is too large: ${JSON.stringify(sizes)}`)
}

/** Returns the text that `sha256sum` would write. */
function sumsOf(files: Files): string {
  const lines = [...files].map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`)
  return lines.sort((one, other) => (one.slice(64) < other.slice(64) ? -1 : 1)).join('')
}

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
}

if (import.meta.main) await ensureConsole(process.argv.includes('--force'))
