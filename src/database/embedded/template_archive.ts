/**
 * Extracts the template (src/dev/template.ts) into a data directory. It appears under its name only
 * when it is complete and on the disk, so that no crash and no power cut leaves half of it.
 */

import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { chmod } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const isWindows = process.platform === 'win32'

/** Directories of this name are unfinished, whenever the lock of DATA_DIR is free. */
export const NEW_CLUSTER_PREFIX = 'postgres.new-'

/**
 * @param root the directory that gets the new one, on the same file system.
 * @param cluster its final absolute path, which must not exist.
 * @throws {Error} of the file system, with a code.
 */
export async function extractTemplate(root: string, cluster: string): Promise<void> {
  const temporary = mkdtempSync(join(root, NEW_CLUSTER_PREFIX))
  try {
    const archive = await Bun.zstdDecompress(await Bun.file(await findTemplate()).bytes())
    await new Bun.Archive(archive).extract(temporary)
    await chmod(temporary, 0o700)
    syncTree(temporary)
    renameSync(temporary, cluster)
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    throw error
  }
  syncPath(root)
  syncPath(dirname(root))
}

/** Imported late: a process that uses a PostgreSQL server does without the asset. */
async function findTemplate(): Promise<string> {
  const template = await import('./cluster.tar.zst', { with: { type: 'file' } })
  return template.default
}

export function syncTree(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) syncTree(child)
    else syncPath(child)
  }
  syncPath(path)
}

/** Windows flushes only files that are open for writing, so no folder, whose entries it keeps by itself. */
export function syncPath(path: string): void {
  if (isWindows && statSync(path).isDirectory()) return
  const descriptor = openSync(path, isWindows ? 'r+' : 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
