/**
 * `cloakroom rekey-outer`: seals all outer-layer blobs under the first key of ENCRYPTION_KEY. It processes all tables
 * while they are in use, and repeats until nothing is left. It can be stopped at any time and run again: blobs that use
 * the first key are not changed.
 */
import type { Sql } from 'postgres'
import { parseOuterKeys } from '../../core/crypto/outer_keys.ts'
import { OuterLayer } from '../../core/crypto/outer_layer.ts'
import { type LiveKeys, listLiveKeys } from '../../database/keys/live_keys.ts'
import { KEY_CHECK, SEALED, type SealedColumn } from '../../database/schema/sealed.ts'
import { countByKey, countUnder, type KeyCounts } from './counts.ts'
import { RekeyProblem } from './problem.ts'
import { Pace, type Progress } from './progress.ts'
import { readRows, reseal, resealCheck } from './reseal.ts'

export type WantedRekey = {
  /** Rows per batch. */
  batch: number
  /** Milliseconds between two batches. */
  pauseMs: number
  /** Reads and decrypts everything, without writing. */
  dryRun: boolean
}

export type RekeyResult = {
  /** ID of the key that now seals all rows. */
  key: string
  dry_run: boolean
  resealed: number
  /** Rows that no key can decrypt, left unchanged. */
  unreadable: number
  rows: KeyCounts
  /** IDs of other keys in ENCRYPTION_KEY that neither rows nor processes use. */
  unused_keys: string[]
  /** IDs of keys that are still needed, and why. */
  needed_keys: Record<string, 'rows' | 'process'>
}

export type Source = {
  sql: Sql
  encryptionKey: string
  /** Whether a pooler is used, whose sessions do not show the running processes. */
  isPooled?: boolean
  onProgress: (progress: Progress) => void
  signal: AbortSignal
}

type Work = Source & { outer: OuterLayer; key: string; pace: Pace; wanted: WantedRekey }

/** Maximum passes over all tables if rows with another key keep appearing. */
const MAX_PASSES = 5
/** Milliseconds before the last pass, in which running writes are committed. */
const LAST_LOOK_MS = 1_000
/** How many unreadable rows are listed. */
const MAX_NAMED = 100

/** @throws RekeyProblem if a process does not have the new key; the signal's reason when ended */
export async function rekey(source: Source, wanted: WantedRekey): Promise<RekeyResult> {
  const { sql, encryptionKey, onProgress } = source
  const [{ id: key }] = parseOuterKeys(encryptionKey)
  await demandKeyEverywhere(source, key)
  const before = await countByKey(sql, encryptionKey)
  onProgress({ event: 'started', key, rows: before })
  const pace = new Pace(
    countUnder(before, (id) => id !== key),
    onProgress,
  )
  const outer = OuterLayer.parse(encryptionKey)
  const unreadable = await passes({ ...source, outer, key, pace, wanted })
  const rows = await countByKey(sql, encryptionKey)
  return {
    key,
    dry_run: wanted.dryRun,
    resealed: pace.resealed,
    unreadable,
    rows,
    ...(await needOf(source, rows)),
  }
}

/** A process without the key could no longer decrypt rows. */
async function demandKeyEverywhere({ sql, isPooled }: Source, key: string): Promise<void> {
  const without = (await listLiveKeys(sql, isPooled)).filter(({ ids }) => !ids.includes(key))
  if (without.length === 0) return
  const isOld = without.some(({ ids }) => ids.length === 0)
  throw new RekeyProblem(
    `nothing was done: ${without.length} database connections are from processes without the key ${key}${isOld ? ', or of an earlier version that does not report its keys' : ''} (${without.slice(0, MAX_NAMED).map(whoOf).join('; ')}); restart all of them with it in ENCRYPTION_KEY first`,
  )
}

/** Any database user can have such a connection, so its owner is named. */
function whoOf({ pid, user, place, ids }: LiveKeys): string {
  return `backend ${pid} of ${user}, from ${place}${ids.length === 0 ? '' : `, with ${ids.join(' ')}`}`
}

/** Returns how many rows the last pass could not open. */
async function passes(work: Work): Promise<number> {
  for (let pass = 1; ; pass += 1) {
    if (pass > 1) await Bun.sleep(LAST_LOOK_MS)
    const { met, unreadable } = await goThrough(work, pass === 1)
    const isDone = pass > 1 && met === unreadable
    if (work.wanted.dryRun || isDone || pass === MAX_PASSES) return unreadable
  }
}

type Seen = { met: number; unreadable: number }

async function goThrough(work: Work, isFirst: boolean): Promise<Seen> {
  const seen: Seen = { met: 0, unreadable: 0 }
  for (const sealed of SEALED) {
    let after: string[] | null = null
    do after = await resealBatch(work, sealed, { after, seen, isFirst })
    while (after !== null)
  }
  if (!work.wanted.dryRun) work.pace.add(KEY_CHECK.table, await resealCheck(work), 0)
  return seen
}

type Place = { after: readonly string[] | null; seen: Seen; isFirst: boolean }

/** Reseals one batch. Returns the start of the next one, or `null` at the end of the table. */
async function resealBatch(work: Work, sealed: SealedColumn, { after, seen, isFirst }: Place) {
  const { sql, key, wanted, pace, onProgress, signal } = work
  signal.throwIfAborted()
  const rows = await readRows(sql, sealed, { key, after, limit: wanted.batch })
  const { resealed, unreadable } = await reseal(work, sealed, rows, wanted.dryRun)
  const named = isFirst ? unreadable.slice(0, Math.max(MAX_NAMED - seen.unreadable, 0)) : []
  for (const row of named) onProgress({ event: 'unreadable', ...row })
  seen.met += rows.length
  seen.unreadable += unreadable.length
  pace.add(sealed.table, resealed, isFirst ? rows.length : 0)
  if (wanted.pauseMs > 0 && rows.length > 0) await Bun.sleep(wanted.pauseMs)
  return rows.length === wanted.batch ? (rows.at(-1)?.primaryKey ?? null) : null
}

/** Returns the keys that ENCRYPTION_KEY no longer needs, and those that it needs. */
async function needOf(
  { sql, encryptionKey, isPooled }: Source,
  rows: KeyCounts,
): Promise<Pick<RekeyResult, 'unused_keys' | 'needed_keys'>> {
  const [, ...others] = parseOuterKeys(encryptionKey)
  const live = await listLiveKeys(sql, isPooled)
  const needed: RekeyResult['needed_keys'] = {}
  for (const { id } of others) {
    if (countUnder(rows, (used) => used === id) > 0) needed[id] = 'rows'
    else if (live.some(({ ids: [first = id] }) => first === id)) needed[id] = 'process'
  }
  return {
    unused_keys: others.map(({ id }) => id).filter((id) => !(id in needed)),
    needed_keys: needed,
  }
}
