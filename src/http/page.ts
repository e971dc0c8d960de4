/**
 * Cursor paging. A cursor is the last row's sort key, sealed with a MAC under SECRET_KEY, so that it
 * cannot be forged into a question about rows that the list would not show.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Config } from '../core/config/config.ts'
import { secretKeysOf } from '../core/crypto/pepper.ts'
import { buildFieldFault } from '../core/fault.ts'
import { Reply } from './reply.ts'

const MAC_BYTES = 16

/** `after` is the sort key of the last row before the page, and empty for the first page. */
export type Page = { after: readonly string[]; limit: number }

/** The rows of a page, and fields of the endpoint in addition to `data`. */
export type PageRows<Row> = { rows: readonly Row[]; hasMore: boolean; beside?: object }

/** How a list is read. Without `open`, rows are shown as they are. */
export type Listing<Row, Data> = {
  /** The list of the cursors: a cursor of another list is refused. */
  name: string
  sortKey(row: Row): readonly string[]
  /** Maximum rows of a page, for any limit in the query. */
  maxRows?: number
  /** Called with the rows that are shown. */
  record?(rows: readonly Row[]): void
  /** Bounds how many pages are read at the same time; an invalid cursor is refused before. */
  queue?<T>(read: () => Promise<T>): Promise<T>
} & (
  | { read: ReadRows<Row>; open(rows: readonly Row[]): Data | Promise<Data> }
  | { read: ReadRows<Row & ItemOf<Data>>; open?: undefined }
)

/** Returns one row more than the page holds if there are more, or reports it itself. */
type ReadRows<Row> = (page: Page) => Promise<readonly Row[] | PageRows<Row>>
type ItemOf<Data> = Data extends readonly (infer Item)[] ? Item : never

/** @throws Fault `validation_error` on a cursor of another server or list */
export type ReadPage = <Row, Data>(
  listing: Listing<Row, Data>,
  query: { limit: number; cursor?: string | undefined },
) => Promise<Reply<Data>>

export function openPager({ SECRET_KEY }: Pick<Config, 'SECRET_KEY'>): ReadPage {
  const secretKeys = secretKeysOf(SECRET_KEY)
  const mac = (text: string, secretKey = secretKeys[0]) =>
    createHmac('sha256', `cloakroom/v1/cursor ${secretKey}`)
      .update(text)
      .digest()
      .subarray(0, MAC_BYTES)
  const openCursor = (list: string, cursor: string): readonly string[] => {
    const bytes = Buffer.from(cursor, 'base64url')
    const text = bytes.subarray(MAC_BYTES).toString()
    const given = bytes.subarray(0, MAC_BYTES)
    const isOurs = (secretKey: string) => timingSafeEqual(given, mac(list + text, secretKey))
    if (bytes.length <= MAC_BYTES || !secretKeys.some(isOurs))
      throw buildFieldFault('cursor', 'is not a cursor of this list')
    return JSON.parse(text)
  }
  const sealCursor = (list: string, sortKey: readonly string[]): string => {
    const text = JSON.stringify(sortKey)
    return Buffer.concat([mac(list + text), Buffer.from(text)]).toString('base64url')
  }
  return async (listing, query) => {
    const { name, open, record, queue } = listing
    const { cursor } = query
    const limit = Math.min(query.limit, listing.maxRows ?? query.limit)
    const after = cursor === undefined ? [] : openCursor(name, cursor)
    const read = async () => {
      const { rows, ...found } = toPage(await listing.read({ after, limit }), limit)
      return { rows, ...found, data: open ? await open(rows) : rows }
    }
    const { rows, hasMore, beside, data } = await (queue ? queue(read) : read())
    record?.(rows)
    const last = hasMore ? rows.at(-1) : undefined
    const nextCursor = last === undefined ? null : sealCursor(name, listing.sortKey(last))
    return new Reply(data as never, {
      nextCursor,
      ...(beside && { beside }),
    })
  }
}

function toPage<Row>(read: readonly Row[] | PageRows<Row>, limit: number): PageRows<Row> {
  if ('rows' in read) return read
  return { rows: read.slice(0, limit), hasMore: read.length > limit }
}
