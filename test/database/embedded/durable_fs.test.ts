// tier: all
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { DurableFs } from '../../../src/database/embedded/durable_fs.ts'
import { databasePlace } from '../../support/places.ts'

test('a commit with a failed fsync is not acknowledged, and the failure is reported', async () => {
  const directory = mkdtempSync(join(databasePlace, 'embedded-fsync-'))
  const reasons: string[] = []
  let isBroken = false
  const fs = new DurableFs(
    directory,
    (reason) => reasons.push(reason),
    () => {
      if (isBroken) throw Object.assign(new Error('I/O error'), { code: 'EIO' })
    },
  )
  const database = await PGlite.create({ fs, startParams: START })
  await database.query('CREATE TABLE marks (id integer)')
  expect(reasons).toEqual([])
  isBroken = true
  const answered: string[] = []
  await database
    .execProtocolRawStream(query('INSERT INTO marks VALUES (1)'), {
      onRawData: (piece) => answered.push(Buffer.from(piece).toString('latin1')),
    })
    .catch(() => undefined)
  expect(reasons[0]).toBe('fsync failed (EIO)')
  expect(answered.join('')).not.toContain('INSERT 0 1')
  rmSync(directory, { recursive: true, force: true })
}, 60_000)

test('a file system that cannot sync directories causes no failure', async () => {
  for (const [code, number] of [
    ['EINVAL', 28],
    ['EBADF', 8],
  ] as const) {
    const reasons: string[] = []
    const fs = new DurableFs(
      databasePlace,
      (reason) => reasons.push(reason),
      () => {
        throw Object.assign(new Error(code), { code })
      },
    )
    expect(await callSync(fs)).toBe(number)
    expect(reasons).toEqual([])
    expect(fs.syncs).toBe(0)
  }
})

const START = [
  '--single',
  '-j',
  '-c',
  'fsync=on',
  '-c',
  'wal_sync_method=fsync',
  '-c',
  'io_method=sync',
]

function query(statement: string): Uint8Array {
  const head = Buffer.from('Q\0\0\0\0')
  head.writeInt32BE(5 + statement.length, 1)
  return Buffer.concat([head, Buffer.from(`${statement}\0`)])
}

/** Runs Emscripten's steps before PostgreSQL, on an otherwise empty module. */
async function callSync(fs: DurableFs): Promise<number | undefined> {
  const operations: { open(): void; fsync?(stream: { nfd: number }): number } = { open() {} }
  const host = { NODEFS: { stream_ops: operations }, FS: { mkdirTree() {}, mount() {} } }
  const { emscriptenOpts } = await fs.init({} as never, {})
  for (const prepare of emscriptenOpts.preRun ?? []) prepare(host as never)
  return operations.fsync?.({ nfd: 3 })
}
