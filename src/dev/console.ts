/**
 * Makes dist/console.tar: the web console as it is served (src/console/serve.ts), each file compressed twice, for
 * browsers that take Brotli and those that do not. The hash of the bundle is the SHA-256 of its SHA256SUMS, so that
 * `sha256sum` is all that is needed to compare what a server delivers with what a release publishes.
 *
 * bun src/dev/console.ts [--force]
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { archiveOf } from './archive.ts'
import { browserFiles, withoutLanguages } from './browser_files.ts'

const ROOT = join(import.meta.dir, '..', '..')
const WEB = join(ROOT, 'src', 'console', 'web')
const ARCHIVE = join(ROOT, 'dist', 'console.tar')
const STAMP = join(ROOT, 'dist', 'console.stamp')
/** What a change of makes another bundle. */
const INPUTS = ['src/console/web', 'src/client', 'src/sigchain', 'src/platform', 'src/features']
const SINGLE_INPUTS = [
  'bun.lock',
  'src/dev/console.ts',
  'src/dev/browser_files.ts',
  'src/dev/archive.ts',
]

/** Bytes on the wire until the first screen, by Brotli, with the worker of the keys and without Argon2. */
export const FIRST_LOAD_BYTES = 250_000

type Files = Map<string, Uint8Array>

/** Does nothing if there is an archive of these sources already. */
export async function ensureConsole(force = false): Promise<void> {
  const wanted = await stampOfInputs()
  const stamp = Bun.file(STAMP)
  const isThere = (await Bun.file(ARCHIVE).exists()) && (await stamp.exists())
  if (!force && isThere && (await stamp.text()) === wanted) return
  const files = await buildConsole()
  await rm(STAMP, { force: true })
  await writeArchive(files)
  await Bun.write(STAMP, wanted)
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

/** All files by their names below /console/. @throws Error for a first load that is too large */
async function buildConsole(): Promise<Files> {
  const argon2 = await bundle([join(ROOT, 'src', 'client', 'account', 'argon2_worker.ts')])
  const [argon2Name] = argon2.entries
  const page = await bundle([join(WEB, 'main.tsx'), join(WEB, 'keys', 'worker.ts')], {
    ARGON2_WORKER: JSON.stringify(`/console/${argon2Name}`),
  })
  const [main = '', worker = ''] = page.entries
  const style = [...page.files.keys()].find((name) => name.endsWith('.css')) ?? ''
  const first = [...page.reachedBy(main), ...page.reachedBy(worker), style]
  const files: Files = new Map([...argon2.files, ...page.files])
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
  requireSmall(files, ['index.html', ...new Set(first)])
  files.set('SHA256SUMS', new TextEncoder().encode(sumsOf(files)))
  return files
}

async function bundle(entrypoints: string[], define: Record<string, string> = {}) {
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
    plugins: [browserFiles, withoutLanguages],
    // The policy of the page permits no text to be run: without this zod would try.
    banner: 'globalThis.__zod_globalConfig={jitless:true};',
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

/** What only this runtime has fails in a browser when it is called, and not before. */
function requireNeutral(files: Files): void {
  for (const [name, bytes] of files) {
    const [found] =
      /.{0,80}[^\w.](?<!SERVICE_TOKEN } = )(Buffer\.|Bun\.|process\.(env|platform|nextTick)).{0,40}/.exec(
        new TextDecoder().decode(bytes),
      ) ?? []
    if (name.endsWith('.js') && found) throw new Error(`${name} needs what browsers lack: ${found}`)
  }
}

function requireSmall(files: Files, first: readonly string[]): void {
  const sizes = first.map((name) => ({
    name,
    bytes: brotli(files.get(name) ?? new Uint8Array()).length,
  }))
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  process.stderr.write(
    `The console's first load: ${Math.round(total / 1000)} kB of ${FIRST_LOAD_BYTES / 1000}.\n`,
  )
  if (total <= FIRST_LOAD_BYTES) return
  throw new Error(`the first load of the console is too large: ${JSON.stringify(sizes)}`)
}

/** As `sha256sum` writes it. */
function sumsOf(files: Files): string {
  const lines = [...files].map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`)
  return lines.sort((one, other) => (one.slice(64) < other.slice(64) ? -1 : 1)).join('')
}

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
}

function brotli(bytes: Uint8Array): Uint8Array {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })
}

async function writeArchive(files: Files): Promise<void> {
  const entries = [...files].flatMap(([name, bytes]) => [
    [`${name}.br`, brotli(bytes)] as const,
    [`${name}.gz`, new Uint8Array(gzipSync(bytes, { level: 9 }))] as const,
  ])
  const temporary = `${ARCHIVE}.${process.pid}`
  await mkdir(join(ROOT, 'dist'), { recursive: true })
  await Bun.write(temporary, await archiveOf(Object.fromEntries(entries)))
  await rename(temporary, ARCHIVE)
}

if (import.meta.main) await ensureConsole(process.argv.includes('--force'))
