/**
 * Cursor paging. A cursor is the last row's sort key, sealed with a MAC under SECRET_KEY, so that it
 * cannot be forged into a question about rows that the list would not show.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Config } from '../core/config/config.ts'
import { secretKeysOf } from '../core/crypto/pepper.ts'
import { invalidField } from '../core/fault.ts'
import { page as pageReply, type Reply } from './reply.ts'

const MAC_BYTES = 16

export type Pager = {
  /**
   * The sort key at which the page begins, or `null` for the first page.
   *
   * @throws Fault `validation_error` on a cursor that is not ours, or of another list
   */
  start(list: string, cursor: string | undefined): readonly string[] | null
  /** Cuts a page of `limit` from rows that were read with `limit + 1`. */
  cut<Row, Shown>(
    list: string,
    rows: readonly Row[],
    limit: number,
    keyOf: (row: Row) => readonly string[],
    show: (row: Row) => Shown,
  ): Reply<Shown[]>
}

export function openPager({ SECRET_KEY }: Pick<Config, 'SECRET_KEY'>): Pager {
  const secretKeys = secretKeysOf(SECRET_KEY)
  const mac = (text: string, secretKey = secretKeys[0]) =>
    createHmac('sha256', `cloakroom/v1/cursor ${secretKey}`)
      .update(text)
      .digest()
      .subarray(0, MAC_BYTES)
  return {
    start: (list, cursor) => {
      if (cursor === undefined) return null
      const bytes = Buffer.from(cursor, 'base64url')
      const text = bytes.subarray(MAC_BYTES).toString()
      const given = bytes.subarray(0, MAC_BYTES)
      const isOurs = (secretKey: string) => timingSafeEqual(given, mac(list + text, secretKey))
      if (bytes.length <= MAC_BYTES || !secretKeys.some(isOurs))
        throw invalidField('cursor', 'is not a cursor of this list')
      return JSON.parse(text)
    },
    cut: (list, rows, limit, keyOf, show) => {
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : undefined
      const text = last === undefined ? null : JSON.stringify(keyOf(last))
      const cursor = text === null ? null : Buffer.concat([mac(list + text), Buffer.from(text)])
      return pageReply(shown.map(show), cursor?.toString('base64url') ?? null)
    },
  }
}
