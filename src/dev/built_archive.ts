/** Archives of files as the server sends them: each one compressed twice, and built again only if its sources changed. */
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { archiveOf } from './archive.ts'

const ROOT = join(import.meta.dir, '..', '..')
const DIST = join(ROOT, 'dist')
const [brotli, gzipped] = [promisify(brotliCompress), promisify(gzip)]

export type Files = Map<string, Uint8Array>
export type Compressed = { name: string; br: Uint8Array; gz: Uint8Array }

type Source = {
  /** Names dist/<name>.tar. */
  name: string
  /** Folders and files of which a change makes another archive. */
  folders: readonly string[]
  files: readonly string[]
  /** Builds even if nothing changed. */
  force: boolean
}

/**
 * Does nothing if the archive is that of these sources. Two processes may build at once: each writes the same archive
 * under a temporary name and renames it. `plain` has files that compress poorly.
 */
export async function ensureArchive(
  { name, folders, files, force }: Source,
  build: () => Promise<Compressed[]>,
  plain: () => Files = () => new Map(),
): Promise<void> {
  const [archive, stamp] = [join(DIST, `${name}.tar`), join(DIST, `${name}.stamp`)]
  const wanted = await stampOf(folders, files)
  const isThere = (await Bun.file(archive).exists()) && (await Bun.file(stamp).exists())
  if (!force && isThere && (await Bun.file(stamp).text()) === wanted) return
  const compressed = await build()
  const entries = compressed.flatMap(({ name: file, br, gz }) => [
    [`${file}.br`, br] as const,
    [`${file}.gz`, gz] as const,
  ])
  await mkdir(DIST, { recursive: true })
  await rm(stamp, { force: true })
  await replaceFile(archive, await archiveOf(Object.fromEntries([...entries, ...plain()])))
  await replaceFile(stamp, wanted)
}

async function stampOf(folders: readonly string[], files: readonly string[]): Promise<string> {
  const listed = folders.map(async (folder) => {
    const options = { recursive: true, withFileTypes: true } as const
    const entries = await readdir(join(ROOT, folder), options)
    const found = entries.filter((entry) => entry.isFile())
    return found.map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)))
  })
  const hash = new Bun.CryptoHasher('sha256')
  for (const name of [...files, ...(await Promise.all(listed)).flat().sort()]) {
    hash.update(`${name}\n`).update(await Bun.file(join(ROOT, name)).bytes())
  }
  return `${hash.digest('hex')}\n`
}

/** In the thread pool, because Brotli's best quality takes ten seconds of CPU time. */
export function compressAll(files: Files): Promise<Compressed[]> {
  const compressed = [...files].map(async ([name, bytes]) => {
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
    const [br, gz] = await Promise.all([brotli(bytes, { params }), gzipped(bytes, { level: 9 })])
    return { name, br, gz }
  })
  return Promise.all(compressed)
}

/** Readers see the old content or the new, never half of it. */
async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}`
  await Bun.write(temporary, content)
  await rename(temporary, path)
}
