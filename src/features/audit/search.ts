/**
 * The records of a filter, in time that does not grow with the audit: the buckets in which all its terms occur
 * are read in the order of the list, some at a time, and of each bucket its first records. A decision has no term: where it
 * is the only filter, the hours are read in which requests ended with it.
 */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Counted, hourOf, isInHour, mayHave, selectHours } from '../../audit/decision_hours.ts'
import { bucketOf, isInBucket, termOf } from '../../audit/terms.ts'
import { isUuid } from '../../core/validation/validate.ts'
import type { Database, Reading } from '../../database/open.ts'
import { auditLogs } from '../../database/schema/index.ts'
import type { RecordFilters } from './contract.ts'
import { type AuditPage, matches, shown, sortByPosition } from './matching.ts'

/** Buckets in the first statement: a frequent value fills a page from a few. */
const FIRST_PAGE = 16
/** Buckets in each that follows. */
const MANY = 128
/** Occurrences of a term that are counted, to begin with the rarest. */
const MAX_COUNTED = 2_000

/** The terms of one filter: a record has at least one of them. */
export type Terms = readonly SQL[]

/** The filters that have terms: all but those of time, and of the decision. */
export function termsOf(workspaceId: string, filters: RecordFilters): Terms[] {
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
    value === undefined ? [] : [[value].flat().map((each) => termOf(workspaceId, field, each))],
  )
}

/** Whether there are buckets to search. */
export function isSearched(filters: RecordFilters, terms: readonly Terms[]): boolean {
  return terms.length > 0 || isOfRequests(filters)
}

/** With an action, a decision is that of its records, which are not counted. */
function isOfRequests({ decision, action }: RecordFilters): boolean {
  return decision !== undefined && action === undefined
}

/** As a transaction, for a setting that ends with it. */
export function selectInBuckets(
  reading: Database,
  terms: readonly Terms[],
  workspaceId: string,
  filters: RecordFilters,
  page: AuditPage,
) {
  return reading.transaction(async (tx) => {
    // The planner expects thousands of records in each bucket, and would JIT-compile a fast query.
    await tx.execute(sql`set local jit = off`)
    const { isIn, startOf, hour, select } = await searchOf(tx, terms, workspaceId)
    const which = and(matches(workspaceId, filters), isAfter(page), isIn)
    const order = page.order === 'newest' ? sql`desc` : sql`asc`
    const isPossible = hasDecision(workspaceId, filters, hour)
    const found: Awaited<ReturnType<typeof selectIn>> = []
    let last: string | undefined
    for (let count = FIRST_PAGE; ; count = MANY) {
      const within = and(bounds(filters, page, last, startOf), isPossible)
      const buckets = await select(within, { order, count })
      const limit = page.limit + 1 - found.length
      found.push(...(await selectIn(tx, buckets, which, { ...page, limit })))
      last = buckets.at(-1)
      if (found.length > page.limit || buckets.length < count) return found
    }
  })
}

type Some = { order: SQL; count: number }
type Search = {
  /** Whether a record is in a bucket. */
  isIn: SQL
  /** The bucket of a moment. */
  startOf: (moment: Date | string) => SQL
  /** The hour of a bucket. */
  hour: SQL
  select: (within: SQL | undefined, some: Some) => Promise<string[]>
}

async function searchOf(
  tx: Reading,
  terms: readonly Terms[],
  workspaceId: string,
): Promise<Search> {
  if (terms.length === 0) {
    const select: Search['select'] = (within, some) => selectHours(tx, workspaceId, within, some)
    return { isIn: isInHour, startOf: hourOf, hour: sql`bucket`, select }
  }
  const ordered = terms.length > 1 ? await sortByRarity(tx, terms) : terms
  const select: Search['select'] = (within, some) => selectBuckets(tx, ordered, within, some)
  return { isIn: isInBucket, startOf: bucketOf, hour: hourOf(sql`bucket`), select }
}

/** Without it, a frequent term would have buckets without end in which nothing was refused. */
function hasDecision(workspaceId: string, filters: RecordFilters, hour: SQL): SQL | undefined {
  const { decision } = filters
  if (decision === undefined || !isOfRequests(filters)) return undefined
  return mayHave(workspaceId, selectCounted(filters), decision, hour)
}

/** By an ID, an agent is found as all others. */
function selectCounted({ agent_id, domain, credential }: RecordFilters): Counted {
  if (agent_id && !agent_id.some(isUuid)) return { dimension: 'agent', values: agent_id }
  if (credential) return { dimension: 'credential', values: credential }
  if (domain) return { dimension: 'domain', values: domain }
  return { dimension: 'total', values: [''] }
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

async function sortByRarity(tx: Reading, terms: readonly Terms[]): Promise<readonly Terms[]> {
  const counts = await countBuckets(tx, terms, MAX_COUNTED)
  const countOf = (some: Terms) => counts[terms.indexOf(some)] ?? 0
  return terms.toSorted((a, b) => countOf(a) - countOf(b))
}

/** In how many buckets each occurs, of each of its terms up to so many. */
export async function countBuckets(tx: Reading, terms: readonly Terms[], most: number) {
  const counts = terms.map(
    (some) =>
      sql`(select count(*)::int from (${anyOf(
        some,
        (term) =>
          sql`select from audit_terms where term = ${term} order by bucket desc limit ${most}`,
      )}) as counted)`,
  )
  const [row] = await tx.execute<{ counts: number[] }>(
    sql`select json_build_array(${sql.join(counts, sql`, `)}) as counts`,
  )
  return row?.counts ?? []
}

/** Each term by itself: the index gives the buckets of one in order, not those of several. */
function anyOf(terms: Terms, statement: (term: SQL) => SQL): SQL {
  return sql.join(
    terms.map((term) => sql`(${statement(term)})`),
    sql` union all `,
  )
}

function bounds(
  { since, until }: RecordFilters,
  { after, order }: AuditPage,
  last: string | undefined,
  startOf: (moment: Date | string) => SQL,
): SQL | undefined {
  const isNewest = order === 'newest'
  const from = (moment: Date | string) => sql`bucket >= ${startOf(moment)}`
  const begin =
    after && (isNewest ? sql`bucket <= ${after.timestamp}::timestamptz` : from(after.timestamp))
  return and(
    since === undefined ? undefined : from(since),
    until === undefined ? undefined : sql`bucket < ${until.toISOString()}::timestamptz`,
    begin ?? undefined,
    last === undefined ? undefined : sql`bucket ${isNewest ? sql`<` : sql`>`} ${last}::timestamptz`,
  )
}

/** In the order of the list, as texts of the database; what was written by several statements is there several times. */
async function selectBuckets(
  tx: Reading,
  [rarest = [], ...others]: readonly Terms[],
  within: SQL | undefined,
  { order, count }: Some,
): Promise<string[]> {
  const occur = others.map(
    // Without the offset it may be made a join that reads all of both.
    (terms) => sql`exists (select from audit_terms o
      where o.term in (${sql.join([...terms], sql`, `)}) and o.bucket = t.bucket offset 0)`,
  )
  // Not distinct: the planner may then read all of them before it takes the first.
  const rows = await tx.execute<{ text: string }>(sql`
    select bucket::text as text from (${anyOf(
      rarest,
      (
        term,
      ) => sql`select bucket from audit_terms t where ${and(sql`term = ${term}`, within, ...occur)}
        order by bucket ${order} limit ${count}`,
    )}) as found
    order by bucket ${order} limit ${count}`)
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
    .where(which)
    .orderBy(...sortByPosition(auditLogs, page))
    .limit(page.limit)
    .as('of_each')
  const keys = tx
    .select({ id: ofEach.id, timestamp: ofEach.timestamp })
    .from(
      sql`(select value::timestamptz as bucket
        from json_array_elements_text(${JSON.stringify([...new Set(buckets)])}::text::json)) as buckets`,
    )
    .crossJoinLateral(ofEach)
    .orderBy(...sortByPosition(ofEach, page))
    .limit(page.limit)
    .as('keys')
  return tx
    .select(shown)
    .from(keys)
    .innerJoin(auditLogs, eq(auditLogs.id, keys.id))
    .orderBy(...sortByPosition(keys, page))
}
