/**
 * Builds the executable: the program, its threads, and all their assets.
 *
 * bun src/dev/build.ts [--outfile dist/cloakroom] [--target bun-linux-arm64] [--entry src/main.ts]
 *
 * The executable reads neither `.env` nor `bunfig.toml` of its working directory, since either could make it run
 * foreign code. The argument `--` before all others disables `BUN_OPTIONS`, whose options Bun puts before it:
 * `--preload` there has no effect.
 */

import { mkdir } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openConsole } from '../console/serve.ts'
import { ensureConsole } from './console.ts'
import { ensureDocs } from './docs/index.ts'

const SOURCE = join(import.meta.dir, '..')
/** src/core/worker_address.ts looks for them under these paths, relative to SOURCE. */
const THREADS = ['database/embedded/worker.ts', 'access/signed/chain_worker.ts'].map((path) =>
  join(SOURCE, path),
)

export type BuildOptions = {
  /** Absolute path of the program, below src. */
  entry: string
  outfile: string
  /** Such as `bun-linux-arm64`; the platform of this process if absent. */
  target?: Bun.Build.CompileTarget
  /** The runtime of that platform; downloaded by Bun if absent. */
  runtime?: string
  plugins?: Bun.BunPlugin[]
}

/** @throws {AggregateError} with what the bundler complains about. */
export async function buildExecutable(options: BuildOptions): Promise<void> {
  await ensureConsole()
  await ensureDocs()
  await mkdir(dirname(options.outfile), { recursive: true })
  await Bun.build({
    entrypoints: [options.entry, ...THREADS],
    root: SOURCE,
    // Bytecode needs ESM here, because of top-level await; it halves the time to start.
    format: 'esm',
    bytecode: true,
    // In one file, the imports of the runtime's own modules would all be evaluated at start: node:http2 alone takes 20 ms.
    splitting: true,
    minify: true,
    sourcemap: 'none',
    // Otherwise, React's development build would be bundled.
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: options.plugins ?? [],
    compile: {
      outfile: options.outfile,
      ...(options.target === undefined ? {} : { target: options.target }),
      ...(options.runtime === undefined ? {} : { executablePath: options.runtime }),
      autoloadDotenv: false,
      autoloadBunfig: false,
      execArgv: ['--'],
    },
  })
}

function readOptions(): BuildOptions {
  const { values } = parseArgs({
    options: {
      entry: { type: 'string', default: join(SOURCE, 'main.ts') },
      outfile: { type: 'string', default: join(SOURCE, '..', 'dist', 'cloakroom') },
      target: { type: 'string' },
    },
  })
  const places = { entry: resolve(values.entry), outfile: resolve(values.outfile) }
  if (values.target === undefined) return places
  if (!isTarget(values.target)) throw new Error(`${values.target} does not start with "bun-"`)
  return { ...places, target: values.target }
}

/** The bundler itself refuses unknown targets. */
function isTarget(name: string): name is Bun.Build.CompileTarget {
  return name.startsWith('bun-')
}

async function build(): Promise<void> {
  const options = readOptions()
  await buildExecutable(options)
  const place = relative(process.cwd(), options.outfile)
  const megabytes = Math.round(Bun.file(options.outfile).size / 1e6)
  const { hash } = await openConsole()
  process.stdout.write(`Built ${place} (${megabytes} MB). Its console: SHA-256 ${hash}\n`)
}

if (import.meta.main) await build()
