/**
 * Makes dist/console.tar: the web console as it is served (src/console/serve.ts), each file compressed twice, for
 * browsers that take Brotli and those that do not. The hash of the bundle is the SHA-256 of its SHA256SUMS, so that
 * `sha256sum` is all that is needed to compare what a server delivers with what a release publishes.
 *
 * bun src/dev/console.ts [--force]
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { BunPlugin } from 'bun'
import { archiveOf } from './archive.ts'
import { browserFiles } from './browser_files.ts'
import { consoleFonts, consoleStyle } from './console_style.ts'

const ROOT = join(import.meta.dir, '..', '..')
const WEB = join(ROOT, 'src', 'console', 'web')
const ARCHIVE = join(ROOT, 'dist', 'console.tar')
const STAMP = join(ROOT, 'dist', 'console.stamp')
/** Files that change the bundle when they change. */
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
]

/** Bytes on the wire until the first screen, by Brotli, with the keys worker, without Argon2 and fonts. */
export const FIRST_LOAD_BYTES = 235_000

const [brotli, gzipped] = [promisify(brotliCompress), promisify(gzip)]

type Files = Map<string, Uint8Array>
type Compressed = { name: string; br: Uint8Array; gz: Uint8Array }

/** Names that exist only in this runtime. */
const RUNTIME_ONLY =
  /[^\w.](?<!SERVICE_TOKEN(?:: token)? } = )(Buffer\.|Bun\.|process\.(env|platform|nextTick))/
/** Characters that an error shows on either side of a match. */
const CONTEXT = 60

/**
 * Builds the archive unless it is already that of these sources. Two processes may build simultaneously: each writes an
 * identical archive under a temporary name and renames it.
 */
export async function ensureConsole(force = false): Promise<void> {
  const wanted = await stampOfInputs()
  const stamp = Bun.file(STAMP)
  const isThere = (await Bun.file(ARCHIVE).exists()) && (await stamp.exists())
  if (!force && isThere && (await stamp.text()) === wanted) return
  const { files, first } = await buildConsole()
  const compressed = await compressAll(files)
  requireSmall(compressed, first)
  await rm(STAMP, { force: true })
  await writeArchive(compressed)
  await replaceFile(STAMP, wanted)
}

async function stampOfInputs(): Promise<string> {
  const listed = INPUTS.map(async (folder) => {
    const names = await readdir(join(ROOT, folder), { recursive: true })
    return names.filter((name) => /\.\w+$/.test(name)).map((name) => join(folder, name))
  })
  const hash = new Bun.CryptoHasher('sha256')
  for (const name of [...SINGLE_INPUTS, ...(await Promise.all(listed)).flat().sort()]) {
    hash.update(`${name}\n`).update(await Bun.file(join(ROOT, name)).bytes())
  }
  return `${hash.digest('hex')}\n`
}

/** Returns all files by their names below /console/, and the names of those that the first screen loads. */
async function buildConsole(): Promise<{ files: Files; first: string[] }> {
  const { files, first } = await bundlePage(join(WEB, 'main.tsx'), isReleased)
  files.set('SHA256SUMS', new TextEncoder().encode(sumsOf(files)))
  return { files, first }
}

/** The design pages are not released. */
const isReleased = (name: string) => !name.startsWith('design/')

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
  const reachedBy = (entry: string): string[] => {
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
  return { files, reachedBy, entries }
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

/** In the thread pool, because Brotli's best quality takes ten seconds of CPU time. */
function compressAll(files: Files): Promise<Compressed[]> {
  const compressed = [...files].map(async ([name, bytes]) => {
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
    const [br, gz] = await Promise.all([brotli(bytes, { params }), gzipped(bytes, { level: 9 })])
    return { name, br, gz }
  })
  return Promise.all(compressed)
}

async function writeArchive(compressed: readonly Compressed[]): Promise<void> {
  const entries = compressed.flatMap(({ name, br, gz }) => [
    [`${name}.br`, br] as const,
    [`${name}.gz`, gz] as const,
  ])
  await mkdir(join(ROOT, 'dist'), { recursive: true })
  await replaceFile(ARCHIVE, await archiveOf(Object.fromEntries(entries)))
}

/** Readers see the old content or the new, never half of it. */
async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}`
  await Bun.write(temporary, content)
  await rename(temporary, path)
}

if (import.meta.main) await ensureConsole(process.argv.includes('--force'))
