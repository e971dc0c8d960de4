/**
 * Writes src/database/embedded/cluster.tar.zst: a freshly initialised, cleanly closed data directory, which the
 * first start of an embedded database extracts. PostgreSQL's own initialisation takes 9 seconds of CPU time and a
 * gigabyte of memory, and a kill in the middle of it leaves a directory that never opens. The file is committed, so
 * that no installation and no build has to initialise.
 *
 * bun src/dev/template.ts     after an update of PGlite
 *
 * All installations share its system identifier, which only replication would look at. It contains no secret: the
 * bridge asks for no password. The same PGlite always gives the same bytes; a test initialises again and compares.
 */

import nodeCrypto from 'node:crypto'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { archiveOf } from './archive.ts'

export const TEMPLATE = join(import.meta.dir, '../database/embedded/cluster.tar.zst')
/** The strongest: the three databases of a cluster are nearly the same. */
const COMPRESSION_LEVEL = 22
/** Milliseconds: the year 2000, where PostgreSQL's own clock begins. */
const START = 946_684_800_000

/** The data directory as a tar archive. */
export async function buildTemplate(): Promise<Uint8Array> {
  const directory = await mkdtemp(join(tmpdir(), 'cloakroom-template-'))
  try {
    await repeatWork(() => initialise(directory))
    return await archiveOf(await readTree(directory))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function initialise(directory: string): Promise<void> {
  const database = await PGlite.create({ fs: new NodeFS(directory) })
  await database.exec('CHECKPOINT')
  await database.close()
}

/** PostgreSQL notes when it was initialised, and a random number that only password prompts use. */
async function repeatWork(work: () => Promise<void>): Promise<void> {
  const { now } = Date
  const { randomFillSync } = nodeCrypto
  Date.now = () => START
  nodeCrypto.randomFillSync = <T>(buffer: T) => buffer
  try {
    await work()
  } finally {
    Date.now = now
    nodeCrypto.randomFillSync = randomFillSync
  }
}

/** With its empty directories, which PostgreSQL insists on. */
async function readTree(root: string): Promise<Record<string, Uint8Array>> {
  const tree: Record<string, Uint8Array> = {}
  for (const name of (await readdir(root, { recursive: true })).sort()) {
    const path = join(root, name)
    const key = relative(root, path)
    if ((await stat(path)).isDirectory()) tree[`${key}/`] = new Uint8Array()
    else tree[key] = await Bun.file(path).bytes()
  }
  return tree
}

async function writeTemplate(): Promise<void> {
  const archive = await buildTemplate()
  await Bun.write(TEMPLATE, Bun.zstdCompressSync(archive, { level: COMPRESSION_LEVEL }))
}

if (import.meta.main) await writeTemplate()
