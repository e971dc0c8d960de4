/**
 * Leases on derived credentials: only one process at a time renews a secret's credential. Each method is one statement
 * and uses the database's clock; times are milliseconds since 1970.
 */
import type postgres from 'postgres'
import { toBase64 } from '../core/crypto/encoding.ts'
import { type OuterLayer, secretRow } from '../core/crypto/outer_layer.ts'
import type { SecretPlace } from '../core/crypto/secret_value.ts'
import {
  EXPIRE,
  EXTEND,
  FAIL,
  MAX_EXPIRED_AN_HOUR,
  MAX_RETRY_S,
  MIN_AGE_S,
  RELEASE,
  STORE,
  TAKE,
} from './lease_statements.ts'

export type DerivedPlace = SecretPlace & { workspaceId: string }

export type LeaseRequest = {
  leaseMs: number
  /** The generation that the caller read; 0 without a row. */
  generation: number
  tokenId: string
  /** The version that the use was decided by. */
  policyVersion: number
}

/** `stale`: the token, the policy, the secret or the state changed. Read again. */
export type LeaseResult =
  | { kind: 'taken'; leaseId: string; generation: number; wasSent: boolean; now: number }
  | { kind: 'busy'; until: number }
  | { kind: 'waiting'; retryAt: number }
  | { kind: 'final'; failedAt: number; code: string; mayHaveLost: boolean }
  | { kind: 'stale' }

export type DerivedSuccess = {
  expectedGeneration: number
  /** Sealed for generation `expectedGeneration` + 1, without the outer layer. */
  sealedState: Uint8Array
  /** When the request was sent, as `takeLease` or `extendLease` returned it. */
  derivedAt: number
  /** Lifetime from `derivedAt`. */
  expiresInMs: number
}

export type DerivedFailure = {
  expectedGeneration: number
  leaseId: string
  code: string
  /** Nothing is derived until the secret is written. */
  isFinal: boolean
  /** The endpoint's Retry-After, at most a day; null backs off by 1, 2, 4 … 300 seconds. */
  retryAfterS: number | null
  /** Whether an unanswered request, this one or one before, may have replaced the refresh token. */
  mayHaveLost: boolean
}

type TakenRow = {
  generation: number | null
  was_sent: boolean | null
  now: number
  is_live: boolean
  known_generation: number | null
  has_state: boolean | null
  is_final: boolean | null
  failed_at: number | null
  failed_code: string | null
  may_have_lost: boolean | null
  busy_until: number | null
  retry_at: number | null
}

/** A statement that waited for another taker read the row as it was before: it runs again. */
const MAX_TRIES = 4

export class Leases {
  readonly #sql: postgres.Sql
  readonly #outer: OuterLayer

  constructor(sql: postgres.Sql, outer: OuterLayer) {
    this.#sql = sql
    this.#outer = outer
  }

  /**
   * Takes the lease if no other is live, no back-off or final failure is in the way, and token, policy and
   * generation are still those of the request. `wasSent` if an earlier holder may have sent a refresh token
   * without storing the result. The returned generation is the row's, also for a request with 0.
   */
  async takeLease(place: DerivedPlace, request: LeaseRequest): Promise<LeaseResult> {
    const leaseId = Bun.randomUUIDv7()
    const { generation, leaseMs, tokenId, policyVersion } = request
    const values = [String(generation), leaseId, leaseMs, tokenId, String(policyVersion)]
    for (let left = MAX_TRIES; left > 0; left -= 1) {
      const [row] = await this.#run<TakenRow>(TAKE, place, values)
      const lease = row && readLease(row, { leaseId, expected: generation })
      if (lease) return lease
    }
    return { kind: 'stale' }
  }

  /**
   * Extends the lease and marks durably that a refresh token may leave. Send within 5 s of this or not at all.
   * Returns the time, or null if the lease was lost: then send nothing.
   */
  async extendLease(place: DerivedPlace, leaseId: string, leaseMs: number): Promise<number | null> {
    const [row] = await this.#run<{ now: number }>(EXTEND, place, [leaseId, leaseMs])
    return row?.now ?? null
  }

  /** Gives back a lease under which nothing was sent, with the mark of `extendLease` unless it is an earlier holder's. */
  async releaseLease(
    place: DerivedPlace,
    { leaseId, wasSent }: { leaseId: string; wasSent: boolean },
  ): Promise<void> {
    await this.#run(RELEASE, place, [leaseId, wasSent])
  }

  /**
   * Stores a result if the generation is unchanged, even after the lease, and clears the failure. Returns
   * whether it was stored. Waits for changes of the workspace; a lock timeout is the database's error.
   */
  async storeState(place: DerivedPlace, success: DerivedSuccess): Promise<boolean> {
    const { expectedGeneration, sealedState, derivedAt, expiresInMs } = success
    const row = secretRow(place)
    const sealed = await this.#outer.seal('derived.state', place.workspaceId, row, sealedState)
    const values = [String(expectedGeneration), toBase64(sealed), derivedAt, expiresInMs]
    return (await this.#run(STORE, place, values)).length > 0
  }

  /**
   * Records a failure and ends the lease. Returns its times, or null where it does not count: after a later
   * success, after the lease went to another, and after the secret was written.
   */
  async storeFailure(
    place: DerivedPlace,
    failure: DerivedFailure,
  ): Promise<{ failedAt: number; retryAt: number | null } | null> {
    const { expectedGeneration, leaseId, code, isFinal, retryAfterS, mayHaveLost } = failure
    const asked = retryAfterS === null ? null : Math.min(Math.max(retryAfterS, 1), MAX_RETRY_S)
    const values = [String(expectedGeneration), leaseId, code, isFinal, asked, mayHaveLost]
    type Row = { failed_at: number | null; retry_at: number | null }
    const [row] = await this.#run<Row>(FAIL, place, values)
    if (!row || row.failed_at === null) return null
    return { failedAt: row.failed_at, retryAt: row.retry_at }
  }

  /**
   * Expires a credential that an upstream rejected, at most six times an hour, if it is of this generation and over 60
   * s old. Processes drop their cached copies. Returns whether it did.
   */
  async expireCredential(place: DerivedPlace, generation: number): Promise<boolean> {
    const values = [String(generation), MIN_AGE_S, MAX_EXPIRED_AN_HOUR]
    return (await this.#run(EXPIRE, place, values)).length > 0
  }

  #run<Row extends object = object>(
    statement: string,
    { workspaceId, projectId, environment, key }: DerivedPlace,
    values: (string | number | boolean | null)[],
  ): Promise<Row[]> {
    const parameters = [workspaceId, projectId, environment, key, ...values]
    return this.#sql.unsafe<Row[]>(statement, parameters, { prepare: true })
  }
}

/** Null without a reason: another process was faster. */
function readLease(
  row: TakenRow,
  { leaseId, expected }: { leaseId: string; expected: number },
): LeaseResult | null {
  const { generation, now } = row
  if (generation !== null)
    return { kind: 'taken', leaseId, generation, wasSent: row.was_sent === true, now }
  if (!row.is_live || !isExpected(row, expected)) return { kind: 'stale' }
  return readRefusal(row)
}

function readRefusal(row: TakenRow): LeaseResult | null {
  if (row.is_final) {
    const { failed_at: failedAt, failed_code: code } = row
    return {
      kind: 'final',
      failedAt: failedAt ?? row.now,
      code: code ?? '',
      mayHaveLost: row.may_have_lost === true,
    }
  }
  if (row.busy_until !== null && row.busy_until > row.now)
    return { kind: 'busy', until: row.busy_until }
  if (row.retry_at !== null && row.retry_at > row.now)
    return { kind: 'waiting', retryAt: row.retry_at }
  return null
}

function isExpected({ known_generation, has_state }: TakenRow, expected: number): boolean {
  if (expected === 0) return known_generation === null || has_state === false
  return known_generation === expected
}
