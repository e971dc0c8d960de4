/**
 * Makes what is published: an executable for each platform, packages, the installer, and beside them their hashes, the
 * bill of materials and where they come from. The same source gives the same files (docs/start/install.md).
 *
 * bun run release [--target linux-x64 …] [--out dist/release] [--url https://…]
 *
 * With --url, where the files will be, the installer finds them by itself, and there is a formula for Homebrew.
 */
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { unsign } from 'macho-unsign'
import { openConsole } from '../../console/serve.ts'
import { buildExecutable } from '../build.ts'
import { hasDpkg, makeDebianPackage } from './debian.ts'
import { FORMULA, formulaOf } from './formula.ts'
import { provenanceOf } from './provenance.ts'
import { installRuntimes } from './runtimes.ts'
import { billOfMaterials } from './sbom.ts'
import { describeSource, type Source } from './source.ts'
import { sumsOf, textOf } from './sums.ts'
import { fileOf, publishedOf, type ReleaseTarget, TARGETS, targetsNamed } from './targets.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const compress = promisify(gzip)

export type Release = { targets: readonly ReleaseTarget[]; out: string; url: string | null }
/** Executables are made in `work`; the published files, in `folder` below it. */
type Place = { work: string; folder: string; source: Source }

/** Replaces the folder as a whole. Returns its files, in the order of SHA256SUMS. */
export async function release({ targets, out, url }: Release): Promise<string[]> {
  process.umask(0o022)
  await mkdir(dirname(out), { recursive: true })
  const work = await mkdtemp(`${out}.`)
  const place = { work, folder: join(work, 'release'), source: await describeSource() }
  try {
    await mkdir(place.folder)
    const files = [
      ...(await makeExecutables(targets, place)),
      ...(await describe(targets, place)),
      await writeInstaller(place.folder, url),
    ]
    const names = [...files, ...(await writeFormula(place.folder, files, url))].sort()
    const sums = await sumsOf(place.folder, names)
    const subjects = { ...(await sumsOf(work, targets.map(fileOf))), ...sums }
    const made = { targets, source: place.source, sums: subjects }
    await Bun.write(join(place.folder, 'provenance.json'), await provenanceOf(made, process.env))
    await Bun.write(join(place.folder, 'SHA256SUMS'), textOf(sums))
    await rm(out, { recursive: true, force: true })
    await rename(place.folder, out)
    return names
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Compresses one executable while the next is built. */
async function makeExecutables(targets: readonly ReleaseTarget[], place: Place): Promise<string[]> {
  const runtimeOf = await installRuntimes(targets, join(place.work, 'runtimes'))
  const published: Promise<string[]>[] = []
  for (const target of targets) {
    await buildFor(target, join(place.work, fileOf(target)), runtimeOf(target))
    published.push(publish(target, place))
  }
  return (await Promise.all(published)).flat()
}

/** An executable of one platform. macOS starts one without a signature on x64, and kills one with a wrong signature. */
export async function buildFor(
  target: ReleaseTarget,
  outfile: string,
  runtime: string,
): Promise<void> {
  await buildExecutable({
    entry: join(ROOT, 'src', 'main.ts'),
    outfile,
    target: `bun-${target.runtime.replace('@oven/bun-', '')}` as Bun.Build.CompileTarget,
    runtime,
  })
  const unsigned = target.hasStaleSignature && unsign(await Bun.file(outfile).arrayBuffer())
  if (unsigned) await Bun.write(outfile, unsigned)
}

async function publish(target: ReleaseTarget, { work, folder, source }: Place): Promise<string[]> {
  const name = publishedOf(target)
  const executable = join(work, fileOf(target))
  if (name === fileOf(target)) await copyFile(executable, join(folder, name))
  else await Bun.write(join(folder, name), await compress(await Bun.file(executable).bytes()))
  if (!target.debian || !hasDpkg) return [name]
  const architecture = target.debian
  return [name, await makeDebianPackage({ executable, architecture, source, folder })]
}

/** Writes the bill of materials, and the console's sums, for comparison with a server's copy. */
async function describe(targets: readonly ReleaseTarget[], place: Place): Promise<string[]> {
  const { respond } = await openConsole()
  const sums = respond(new Request('http://localhost/console/SHA256SUMS'))
  await Bun.write(join(place.folder, 'console.SHA256SUMS'), await sums.bytes())
  await Bun.write(join(place.folder, 'sbom.cdx.json'), await billOfMaterials(targets, place.source))
  return ['console.SHA256SUMS', 'sbom.cdx.json']
}

async function writeInstaller(folder: string, url: string | null): Promise<string> {
  const text = await Bun.file(join(import.meta.dir, 'install.sh')).text()
  await Bun.write(
    join(folder, 'install.sh'),
    text.replace("published=''", `published='${url ?? ''}'`),
  )
  return 'install.sh'
}

async function writeFormula(folder: string, files: string[], url: string | null) {
  const formula = url === null ? null : formulaOf(await sumsOf(folder, files), url)
  if (formula === null) return []
  await Bun.write(join(folder, FORMULA), formula)
  return [FORMULA]
}

function readOptions(): Release {
  const { values } = parseArgs({
    options: {
      target: { type: 'string', multiple: true, default: TARGETS.map(({ name }) => name) },
      out: { type: 'string', default: join(ROOT, 'dist', 'release') },
      url: { type: 'string' },
    },
  })
  const url = values.url === undefined ? null : urlOf(values.url)
  return { targets: targetsNamed(values.target), out: resolve(values.out), url }
}

/** Validates the URL, which becomes part of a shell script and a Ruby script. */
function urlOf(text: string): string {
  if (!/^https?:\/\/[\w.:/@-]+$/.test(text)) throw new Error(`--url ${text} is no plain address`)
  return text.replace(/\/$/, '')
}

async function main(): Promise<void> {
  const options = readOptions()
  const names = await release(options)
  const { commit } = await describeSource()
  process.stdout.write(`${names.map((name) => `${join(relative('.', options.out), name)}\n`).join('')}
From ${commit ? `commit ${commit}` : 'a source outside of a repository'}. Nothing is signed.\n`)
  if (!hasDpkg) process.stdout.write('There are no packages for Debian: dpkg-deb is not here.\n')
}

if (import.meta.main) await main()
