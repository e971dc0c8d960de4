/**
 * Long texts in a keyring with short entries: macOS's `security` cuts a line at 4,096 bytes. The entry lists the names of
 * its pieces. New pieces are written first, under new names, so an interrupted write leaves the previous text readable.
 */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { utf8 } from '../../core/crypto/encoding.ts'
import { sha256 } from '../../core/crypto/primitives.ts'

/** Entries by name. */
export type Entries = {
  read(account: string): Promise<string | null>
  write(account: string, text: string): Promise<void>
  clear(account: string): Promise<void>
}

/** Bytes of a piece: base64 and the rest of the line stay below the limit. */
const MAX_BYTES = 2_400

const index = z.strictObject({ pieces: z.array(z.string()).min(1), sha256: z.string() })

/** Texts of one piece are stored as they are, as before. */
export function storeInPieces({ read, write, clear }: Entries): Entries {
  const piecesOf = async (account: string) => readPieceNames(await read(account))
  const drop = async (names: readonly string[]) => {
    for (const name of names) await clear(name)
  }
  return {
    read: async (account) => {
      const text = await read(account)
      const names = readPieceNames(text)
      if (names.length === 0) return text
      const parts: string[] = []
      for (const name of names) parts.push((await read(name)) ?? '')
      const whole = Buffer.from(parts.join(''), 'base64').toString()
      // A manually removed entry invalidates the session.
      return digestOf(whole) === index.parse(JSON.parse(text ?? '')).sha256 ? whole : null
    },
    write: async (account, text) => {
      const before = await piecesOf(account)
      const encoded = Buffer.from(text).toString('base64')
      const isShort = Buffer.byteLength(text) <= MAX_BYTES
      const cut = isShort ? [] : (encoded.match(new RegExp(`.{1,${MAX_BYTES}}`, 'g')) ?? [])
      const pieces = cut.map(() => `${account}.${randomUUID()}`)
      for (const [at, piece] of cut.entries()) await write(pieces[at] ?? '', piece)
      await write(account, isShort ? text : JSON.stringify({ pieces, sha256: digestOf(text) }))
      await drop(before)
    },
    clear: async (account) => {
      const before = await piecesOf(account)
      await clear(account)
      await drop(before)
    },
  }
}

function readPieceNames(text: string | null): readonly string[] {
  if (!text?.startsWith('{"pieces":')) return []
  const parsed = index.safeParse(JSON.parse(text))
  return parsed.success ? parsed.data.pieces : []
}

function digestOf(text: string): string {
  return Buffer.from(sha256(utf8(text))).toString('base64url')
}
