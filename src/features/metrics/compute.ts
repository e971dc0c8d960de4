/**
 * Computes daily rows, each in a separate transaction under one lock, so that replicas wait for each other. A
 * row that was already computed after its day had ended keeps what has been deleted since: computing it
 * again does not make it poorer.
 */
import { eq, gte, sql } from 'drizzle-orm'
import type { Clock } from '../../core/clock.ts'
import type { Database, Transaction } from '../../database/open.ts'
import { dailyMetrics, instance } from '../../database/schema/index.ts'
import { dayOf, daysUntil, endOfDay } from './days.ts'
import { measureDay, type StoredDay } from './queries.ts'

const ADVISORY_LOCK = 6_021_023_007
const DAY_MS = 86_400_000
/** Days that are made up for when no process computed them in their time. */
const MAX_MISSED = 31

type Tools = { db: Database; clock: Clock }

/** So many days that end with today, newest first. */
export async function computeLastDays({ db, clock }: Tools, count: number): Promise<StoredDay[]> {
  const rows: StoredDay[] = []
  for (const day of daysUntil(dayOf(clock.now()), count)) {
    rows.push(await runExclusively(db, (tx) => computeDay(tx, day, clock.now())))
  }
  return rows
}

/**
 * The days of this installation that have ended and were not computed since. Returns those that this
 * process computed: of several replicas the first one finds work.
 */
export async function computeMissedDays({ db, clock }: Tools): Promise<string[]> {
  const computed: string[] = []
  for (const day of await listMissedDays(db, clock.now())) {
    const row = await runExclusively(db, async (tx) =>
      isFinal(await find(tx, day)) ? null : computeDay(tx, day, clock.now()),
    )
    if (row) computed.push(day)
  }
  return computed
}

async function listMissedDays(db: Database, now: number): Promise<string[]> {
  const [installed] = await db.select({ createdAt: instance.createdAt }).from(instance)
  const first = dayOf(installed?.createdAt.getTime() ?? now)
  const days = daysUntil(dayOf(now - DAY_MS), MAX_MISSED).filter((day) => day >= first)
  const stored = await db
    .select({ date: dailyMetrics.date, computedAt: dailyMetrics.computedAt })
    .from(dailyMetrics)
    .where(gte(dailyMetrics.date, days.at(-1) ?? dayOf(now)))
  const done = new Set(stored.filter(isFinal).map(({ date }) => date))
  return days.filter((day) => !done.has(day))
}

async function runExclusively<T>(db: Database, task: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${ADVISORY_LOCK}::bigint)`)
    return task(tx)
  })
}

async function computeDay(tx: Transaction, day: string, now: number): Promise<StoredDay> {
  const row = keepFinal(await find(tx, day), await measureDay(tx, day, now))
  await tx
    .insert(dailyMetrics)
    .values(row)
    .onConflictDoUpdate({ target: dailyMetrics.date, set: row })
  return row
}

async function find(tx: Transaction, day: string): Promise<StoredDay | null> {
  const [row] = await tx.select().from(dailyMetrics).where(eq(dailyMetrics.date, day))
  return row ?? null
}

/** Whether the day had ended when the row was computed. */
function isFinal<Row extends Pick<StoredDay, 'date' | 'computedAt'>>(row: Row | null): row is Row {
  return row !== null && row.computedAt.getTime() >= endOfDay(row.date)
}

/** Counts of rows that may be deleted, or be noted late. */
const populations = [
  ...(['totalUsers', 'newUsers', 'totalWorkspaces', 'totalProjects', 'totalSecrets'] as const),
  ...(['totalAgents', 'activeTokens', 'dau', 'wau', 'mau'] as const),
]

/**
 * The result of computing the same day again. After the end of a day its counts can only
 * shrink, by deletions and by the retention of the audit, and those happened later than the day.
 */
export function keepFinal(stored: StoredDay | null, measured: StoredDay): StoredDay {
  if (!isFinal(stored)) return measured
  const isExpired =
    measured.resolverCalls < stored.resolverCalls ||
    measured.workloadDeliveries < stored.workloadDeliveries
  const kept = { ...(isExpired ? stored : measured), computedAt: measured.computedAt }
  for (const field of populations) kept[field] = Math.max(stored[field], measured[field])
  return kept
}
