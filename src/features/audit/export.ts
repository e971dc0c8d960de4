/**
 * The audit as a file, in constant memory: pages are read while the client takes them, each in a short
 * separate transaction, so that a slow client holds neither a connection nor a snapshot. Newer
 * records do not appear in it, because the pages go from new to old.
 */

import type { Caller } from '../../core/grant.ts'
import { describeError, type Log } from '../../core/log.ts'
import type { Database } from '../../database/open.ts'
import { authorise } from '../../identity/authorise.ts'
import type { RecordFilters } from './contract.ts'
import { selectFitting } from './fitting.ts'
import type { Position } from './matching.ts'
import { positionOf, selectLogs } from './queries.ts'

/** Records in one page: a few milliseconds of work, between which other requests are served. */
const PAGE = 250

/** Each costs some ten milliseconds, for 4,000 rows of 250 a page. */
const PAGES_BETWEEN_COLLECTIONS = 16

/** Characters that JSON leaves unescaped, but that some line readers and terminals interpret. */
const UNFIT_IN_A_LINE = /[\u007f-\u009f\u2028\u2029]/g

/**
 * Lines of JSON, a page at a time. The caller's role is checked again with each page: a member who is
 * removed gets no further, and the download breaks off.
 */
export async function* exportLines(
  { db, log }: { db: Database; log: Log },
  caller: Caller,
  workspaceId: string,
  filters: RecordFilters,
): AsyncGenerator<string, void> {
  let after: Position | null = null
  let pages = 0
  try {
    do {
      pages += 1
      // The rows of a page are garbage at once; left to itself the heap first grows by a hundred MB.
      if (pages % PAGES_BETWEEN_COLLECTIONS === 0) Bun.gc(true)
      const rows = await readPage(db, caller, workspaceId, filters, after)
      const last = rows.length > PAGE ? rows[PAGE - 1] : undefined
      after = last ? positionOf(last) : null
      if (rows.length > 0)
        yield selectFitting(rows.slice(0, PAGE), log)
          .map((row) => `${jsonOf(row)}\n`)
          .join('')
    } while (after !== null)
  } catch (error) {
    log.warning('audit export failed', describeError(error))
    throw error
  }
}

async function readPage(
  db: Database,
  caller: Caller,
  workspaceId: string,
  filters: RecordFilters,
  after: Position | null,
) {
  const grant = await authorise(db, caller, 'audit.export', { workspaceId })
  return selectLogs(db, grant, filters, { after, limit: PAGE, order: 'newest' })
}

/** On one line. */
export function jsonOf(record: object): string {
  return JSON.stringify(record).replace(
    UNFIT_IN_A_LINE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
