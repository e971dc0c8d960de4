/**
 * The records of a filter, in time that does not grow with the audit: the buckets in which all its terms occur
 * are read in the order of the list, some at a time, and of each bucket its first records.
 */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { isInBucket, reaches, termOf } from '../../audit/terms.ts'
import type { Database, Reading } from '../../database/open.ts'
import { auditLogs } from '../../database/schema/index.ts'
import type { RecordFilters } from './contract.ts'
import { type AuditPage, matches, shown, sorted } from './matching.ts'

/** Buckets in the first statement: a frequent value fills a page from a few. */
const FEW = 16
/** Buckets in each that follows. */
const MANY = 128
/** Occurrences of a term that are counted, to begin with the rarest. */
const ENOUGH = 2_000

/** What the filters but those of time look for. */
export function termsOf(workspaceId: string, filters: RecordFilters): SQL[] {
  const { project_id, environment, agent_id, domain, method, status_code, action, credential } =
    filters
  const asked = [
    ['agent', agent_id],
    ['credential', credential],
    ['action', action],
    ['domain', domain],
    ['status', status_code],
    ['project', project_id],
    ['method', method],
    ['environment', environment],
  ] as const
  return asked.flatMap(([field, value]) =>
    value === undefined ? [] : [termOf(workspaceId, field, value)],
  )
}

/** As a transaction, for a setting that ends with it. */
export function selectByTerms(
  reading: Database,
  terms: readonly SQL[],
  workspaceId: string,
  filters: RecordFilters,
  page: AuditPage,
) {
  return reading.transaction(async (tx) => {
    // The planner expects thousands of records in each bucket: it would compile what takes a millisecond.
    await tx.execute(sql`set local jit = off`)
    const ordered = await rarestFirst(tx, terms)
    const which = and(matches(workspaceId, filters), isAfter(page))
    const found: Awaited<ReturnType<typeof selectIn>> = []
    let last: string | undefined
    for (let count = FEW; ; count = MANY) {
      const buckets = await selectBuckets(tx, ordered, bounds(filters, page, last), page, count)
      const left = page.limit + 1 - found.length
      found.push(...(await selectIn(tx, buckets, which, { ...page, limit: left })))
      last = buckets.at(-1)
      if (found.length > page.limit || buckets.length < count) return found
    }
  })
}

/** Not as a comparison of rows, from which an index would begin: that would be in another bucket. */
function isAfter({ after, order }: AuditPage): SQL | undefined {
  const { timestamp, id } = auditLogs
  if (after === null) return undefined
  const moment = sql`${after.timestamp}::timestamptz`
  const isFurther = order === 'newest' ? sql`<` : sql`>`
  return sql`(${timestamp} ${isFurther} ${moment}
    or (${timestamp} = ${moment} and ${id} ${isFurther} ${after.id}::uuid))`
}

async function rarestFirst(tx: Reading, terms: readonly SQL[]): Promise<readonly SQL[]> {
  if (terms.length < 2) return terms
  const counts = terms.map(
    (term) => sql`(select count(*)::int from (
      select from audit_terms where term = ${term} order by bucket desc limit ${ENOUGH}) as counted)`,
  )
  const [row] = await tx.execute<{ counts: number[] }>(
    sql`select json_build_array(${sql.join(counts, sql`, `)}) as counts`,
  )
  const countOf = (term: SQL) => row?.counts[terms.indexOf(term)] ?? 0
  return terms.toSorted((a, b) => countOf(a) - countOf(b))
}

function bounds(
  { since, until }: RecordFilters,
  { after, order }: AuditPage,
  last: string | undefined,
): SQL | undefined {
  const isNewest = order === 'newest'
  const begin =
    after && (isNewest ? sql`bucket <= ${after.timestamp}::timestamptz` : reaches(after.timestamp))
  return and(
    since === undefined ? undefined : reaches(since),
    until === undefined ? undefined : sql`bucket < ${until.toISOString()}::timestamptz`,
    begin ?? undefined,
    last === undefined ? undefined : sql`bucket ${isNewest ? sql`<` : sql`>`} ${last}::timestamptz`,
  )
}

/** In the order of the list, as texts of the database; what was written by several statements is there several times. */
async function selectBuckets(
  tx: Reading,
  [rarest, ...others]: readonly SQL[],
  within: SQL | undefined,
  { order }: AuditPage,
  count: number,
): Promise<string[]> {
  const occur = others.map(
    // Without the offset it may be made a join that reads all of both.
    (term) => sql`exists (
      select from audit_terms o where o.term = ${term} and o.bucket = t.bucket offset 0)`,
  )
  // Not distinct: the planner may then read all of them before it takes the first.
  const rows = await tx.execute<{ text: string }>(sql`
    select bucket::text as text from audit_terms t
    where ${and(sql`term = ${rarest}`, within, ...occur)}
    order by bucket ${order === 'newest' ? sql`desc` : sql`asc`} limit ${count}`)
  return rows.map(({ text }) => text)
}

function selectIn(
  tx: Reading,
  buckets: readonly string[],
  which: SQL | undefined,
  page: AuditPage,
) {
  const ofEach = tx
    .select({ id: auditLogs.id, timestamp: auditLogs.timestamp })
    .from(auditLogs)
    .where(and(which, isInBucket))
    .orderBy(...sorted(auditLogs, page))
    .limit(page.limit)
    .as('of_each')
  const keys = tx
    .select({ id: ofEach.id, timestamp: ofEach.timestamp })
    .from(
      sql`(select value::timestamptz as bucket
        from json_array_elements_text(${JSON.stringify([...new Set(buckets)])}::text::json)) as buckets`,
    )
    .crossJoinLateral(ofEach)
    .orderBy(...sorted(ofEach, page))
    .limit(page.limit)
    .as('keys')
  return tx
    .select(shown)
    .from(keys)
    .innerJoin(auditLogs, eq(auditLogs.id, keys.id))
    .orderBy(...sorted(keys, page))
}
