/** Reads the lines of a backup twice: first to verify all of it, then to restore. */
import type { z } from 'zod'
import { migrations } from '../../database/migrations/migrate.ts'
import type { Dumped } from './dump.ts'
import { buildDamagedProblem } from './file.ts'
import {
  type BackupSums,
  backupKeyOf,
  FORMAT,
  type Header,
  headerShape,
  isAuthentic,
  sealShape,
  sumsShape,
} from './format.ts'
import { BackupProblem } from './problem.ts'
import { Tally } from './rows.ts'

/** Takes rows of one table, some at a time. */
export type TakeRows = (table: string, rows: string[]) => Promise<void>

export type VerifiedBackup = Dumped & { digest: string }

const ROWS_AT_ONCE = 500
const CHARACTERS_AT_ONCE = 1024 * 1024

/** @throws BackupProblem unless the backup is complete, from these keys, and supported by this version */
export async function readBackup(
  lines: AsyncGenerator<string>,
  encryptionKey: string,
  take: TakeRows = async () => {},
): Promise<VerifiedBackup> {
  const reader = new Reader(lines)
  const header = headerIn(await reader.readNextLine())
  const key = backupKeyOf(header, encryptionKey)
  const sums: BackupSums = {}
  let line = await reader.readNextLine()
  for (const { name } of header.tables) {
    if (line !== JSON.stringify({ table: name }))
      throw buildDamagedProblem('its table order is wrong')
    const { tally, next } = await readTable(reader, (rows) => take(name, rows))
    sums[name] = tally.sum()
    line = next
  }
  const received = parse(sumsShape, line)
  if (JSON.stringify(received) !== JSON.stringify({ sums }))
    throw buildDamagedProblem('its sums are wrong')
  const digest = reader.digest()
  if (!isAuthentic(parse(sealShape, await reader.readNextLine()), digest, key))
    throw buildDamagedProblem('its MAC does not match: it was altered, or created with another key')
  await reader.end()
  return { header, sums, digest }
}

class Reader {
  readonly #lines: AsyncGenerator<string>
  readonly #hasher = new Bun.CryptoHasher('sha256')

  constructor(lines: AsyncGenerator<string>) {
    this.#lines = lines
  }

  async readNextLine(): Promise<string> {
    const { done, value } = await this.#lines.next()
    if (done) throw buildDamagedProblem('it is truncated')
    this.#hasher.update(`${value}\n`)
    return value
  }

  /** Returns the digest of all lines so far. */
  digest(): string {
    return this.#hasher.copy().digest('hex')
  }

  async end(): Promise<void> {
    if (!(await this.#lines.next()).done) throw buildDamagedProblem('it has data after its end')
  }
}

/** Reads all rows, and the line after them. */
async function readTable(reader: Reader, take: (rows: string[]) => Promise<void>) {
  const tally = new Tally()
  let rows: string[] = []
  let size = 0
  for (;;) {
    const line = await reader.readNextLine()
    const isRow = line.startsWith('"')
    if (isRow) {
      const row = rowIn(line)
      if (tally.add(row) !== `${line}\n`)
        throw buildDamagedProblem('a row is not in canonical form')
      rows.push(row)
      size += row.length
    }
    if (rows.length > 0 && (!isRow || rows.length >= ROWS_AT_ONCE || size >= CHARACTERS_AT_ONCE)) {
      await take(rows)
      rows = []
      size = 0
    }
    if (!isRow) return { tally, next: line }
  }
}

function rowIn(line: string): string {
  try {
    const row: unknown = JSON.parse(line)
    if (typeof row === 'string') return row
  } catch {
    // Reported below.
  }
  throw buildDamagedProblem('a row cannot be read')
}

function headerIn(line: string): Header {
  const format = /^\{"format":"(cloakroom backup \d{1,9})"/.exec(line)?.[1]
  if (format === undefined) throw buildDamagedProblem('it has no backup header')
  if (format !== FORMAT) throw buildLaterProblem(format)
  const header = parse(headerShape, line)
  const unknown = header.migrations.findIndex(({ name, sha256 }, index) => {
    const ours = migrations[index]
    const hash = ours && new Bun.CryptoHasher('sha256').update(ours.text).digest('hex')
    return ours?.name !== name || hash !== sha256
  })
  const name = header.migrations[unknown]?.name
  if (name !== undefined) throw buildLaterProblem(`schema ${name}, version ${header.version}`)
  return header
}

function buildLaterProblem(what: string): BackupProblem {
  return new BackupProblem(
    'invalid_file',
    `the backup was created by another, probably later, version (${what}): restore it with that version`,
  )
}

function parse<T>(shape: z.ZodType<T>, line: string): T {
  try {
    const { success, data } = shape.safeParse(JSON.parse(line))
    if (success) return data
  } catch {
    // Reported below.
  }
  throw buildDamagedProblem('a line has an invalid format')
}
