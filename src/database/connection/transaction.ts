/**
 * A transaction on a lent connection, without savepoints. BEGIN takes no extra round trip: statements that read are
 * sent with it. Statements that write wait until BEGIN is confirmed. Without BEGIN, each would be committed by itself.
 */
import type postgres from 'postgres'
import { isAftermath } from '../errors.ts'
import type { Lane } from './lane.ts'
import { type Routed, routed } from './routed.ts'
import { ConnectionError } from './server_socket.ts'

type Work = (tx: postgres.TransactionSql) => unknown

/** Matches statements that only read, or lock what they read. */
const READS = /^\s*(select|set local)\b/i

/** Runs a transaction. `beginning` is BEGIN with its modes, and settings after semicolons. */
export async function transact(lane: Lane, beginning: string, work: Work): Promise<unknown> {
  const { client } = lane
  const lost = new Promise<never>((_, reject) => {
    lane.onLost = reject
  })
  const began = client.unsafe(beginning).then(() => {})
  const { tx, end } = statementsOf(lane, began)
  try {
    const working = (async () => work(tx))()
    const [result] = await Promise.race([Promise.all([working, began]), lost])
    const error = end()
    if (error !== undefined) throw error
    const { command } = await Promise.race([client.unsafe('commit'), lost])
    // PostgreSQL answers COMMIT so where a statement has failed.
    if (command === 'ROLLBACK') throw new ConnectionError('CONNECTION_ROLLED_BACK')
    return result
  } catch (error) {
    const first = end()
    await Promise.race([client.unsafe('rollback'), lost]).catch(() => {})
    throw behind(error, first)
  }
}

/** Work may wait for a later statement first, which failed because one before it had. */
export function behind(error: unknown, first: unknown): unknown {
  return isAftermath(error) ? (first ?? error) : error
}

/** Only the first failure counts, even if the work continues without the statement. */
function statementsOf(lane: Lane, began: Promise<void>) {
  let isOpen = false
  let isOver = false
  /** If a statement waits, all later ones wait with it. */
  let isHeld = false
  let first: unknown
  const fail = (error: unknown) => {
    first ??= error
  }
  began.then(() => {
    isOpen = true
  }, fail)
  const run = (query: Routed) => {
    // Outside of the transaction it would take effect by itself.
    if (isOver) query.reject(new ConnectionError('CONNECTION_TRANSACTION_OVER'))
    else lane.run(query)
  }
  const route = (query: Routed) => {
    query.catch(fail)
    if (isOpen || isOver || (!isHeld && READS.test(query.strings[0] ?? ''))) run(query)
    else {
      isHeld = true
      began.then(() => run(query), query.reject)
    }
  }
  const tx = routed(lane.client, { route, isInOrder: true }) as unknown as postgres.TransactionSql
  // A nested transaction is part of the outer one: its failure rolls back all of it.
  const savepoint = (inner: Work) => inner(tx)
  return {
    tx: Object.assign(tx, { savepoint }) as unknown as postgres.TransactionSql,
    /** No statement is taken any more; returns the first failure. */
    end: () => {
      isOver = true
      return first
    },
  }
}
