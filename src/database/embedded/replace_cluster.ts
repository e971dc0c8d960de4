/**
 * Replaces the cluster of a data directory. The old one is kept beside it. After a kill at any moment, the directory has
 * the whole old one or the whole new one: the next process that locks it finishes.
 *
 * DATA_DIR/postgres.restored    complete and on the disk, for the moment between two renames
 * DATA_DIR/postgres.before-…    the previous cluster
 */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { syncPath, syncTree } from './template_archive.ts'

const READY = 'postgres.restored'

/** @returns the path of the old one, or `null` if there was none. */
export function replaceCluster(
  root: string,
  staged: string,
  { cluster, now }: { cluster: string; now: Date },
): string | null {
  syncTree(staged)
  renameSync(staged, join(root, READY))
  syncPath(root)
  const place = join(root, cluster)
  const kept = existsSync(place) ? buildKeptName(place, now) : null
  if (kept !== null) renameSync(place, kept)
  syncPath(root)
  finishReplacement(root, cluster)
  return kept
}

/** The new one counts from the moment when the old one is out of its place. */
export function finishReplacement(root: string, cluster: string): void {
  const ready = join(root, READY)
  if (!existsSync(ready)) return
  const place = join(root, cluster)
  if (existsSync(place)) rmSync(ready, { recursive: true })
  else renameSync(ready, place)
  syncPath(root)
}

function buildKeptName(place: string, now: Date): string {
  return `${place}.before-${now.toISOString().replaceAll(/[:.]/g, '-')}`
}
