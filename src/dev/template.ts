/**
 * Makes dist/pgdata.tar.gz: a freshly initialised and cleanly closed data directory, which the
 * first start of an embedded database extracts. PostgreSQL's own initialisation takes seconds and a
 * gigabyte of memory, and a kill in the middle of it leaves a directory that never opens.
 *
 * All installations share its system identifier, which only replication would look at. It contains
 * no secret: the bridge asks for no password. So it may be the same whenever it is made, and the executable with it.
 */

import nodeCrypto from 'node:crypto'
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import project from '../../package.json' with { type: 'json' }
import { archiveOf } from './archive.ts'

const DIST = join(import.meta.dir, '..', '..', 'dist')
const TEMPLATE = join(DIST, 'pgdata.tar.gz')
const STAMP = join(DIST, 'pgdata.stamp')
/** Grows with every change of this file that changes the template. */
const REVISION = 2
/** Milliseconds: the year 2000, where PostgreSQL's own clock begins. */
const START = 946_684_800_000

/** Does nothing if there is a template of this PGlite already. */
export async function ensureTemplate(): Promise<void> {
  const wanted = `pglite ${project.dependencies['@electric-sql/pglite']}, revision ${REVISION}\n`
  if ((await readIfPresent(STAMP)) === wanted && (await Bun.file(TEMPLATE).exists())) return
  await mkdir(DIST, { recursive: true })
  const directory = await mkdtemp(join(tmpdir(), 'cloakroom-template-'))
  try {
    await repeatable(() => initialise(directory))
    await writeArchive(directory, wanted)
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
async function repeatable(work: () => Promise<void>): Promise<void> {
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

/** The stamp goes first and comes last, so that it never vouches for another template. */
async function writeArchive(directory: string, stamp: string): Promise<void> {
  const temporary = `${TEMPLATE}.${process.pid}`
  await Bun.write(temporary, gzipSync(await archiveOf(await readTree(directory)), { level: 9 }))
  await rm(STAMP, { force: true })
  await rename(temporary, TEMPLATE)
  await Bun.write(STAMP, stamp)
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

async function readIfPresent(path: string): Promise<string | null> {
  const file = Bun.file(path)
  return (await file.exists()) ? await file.text() : null
}

if (import.meta.main) await ensureTemplate()
