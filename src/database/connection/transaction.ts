/**
 * Transactions of both databases, without savepoints. No statement is executed outside of its transaction, where it
 * would be committed by itself: not before BEGIN, and not after COMMIT or ROLLBACK.
 *
 * On a lent connection BEGIN takes no extra round trip: statements that read are sent with it. Statements that write
 * wait until BEGIN is confirmed.
 */
import type postgres from 'postgres'
import { isAftermath } from '../errors.ts'
import type { Lane } from './lane.ts'
import type { RepeatedStatements } from './repeated_statements.ts'
import { createRoutedClient, handlerOf, type Routed } from './routed.ts'
import { ConnectionError } from './server_socket.ts'

type Work = (tx: postgres.TransactionSql) => unknown

/** Matches statements that only read, or lock what they read. */
const READS = /^\s*(select|set local)\b/i

/** Runs a transaction. `beginning` is BEGIN with its modes, and settings after semicolons. */
export async function transact(lane: Lane, beginning: string, work: Work): Promise<unknown> {
  const { client, repeated } = lane
  const lost = new Promise<never>((_, reject) => {
    lane.onLost = reject
  })
  const began = client.unsafe(beginning).then(() => {})
  const { tx, end } = statementsOf({ client, repeated, send: lane.run }, began)
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
    throw chooseFirstError(error, first)
  }
}

/** Runs a transaction on a client with a single connection, which sends BEGIN, and COMMIT or ROLLBACK. */
export async function transactOn(
  client: postgres.Sql,
  repeated: RepeatedStatements,
  args: readonly unknown[],
): Promise<unknown> {
  const work = args.at(-1) as Work
  const begin = client.begin as (...given: unknown[]) => Promise<unknown>
  let end = (): unknown => undefined
  const runInside = async (driven: postgres.Sql) => {
    const sender = { client: driven, repeated, send: handlerOf(driven) }
    const statements = statementsOf(sender, Promise.resolve())
    end = statements.end
    const result = await work(statements.tx)
    const error = end()
    if (error !== undefined) throw error
    return result
  }
  try {
    return await begin(...args.slice(0, -1), runInside)
  } catch (error) {
    throw chooseFirstError(error, end())
  }
}

/** The work may first await a later statement, which failed because an earlier one failed. */
function chooseFirstError(error: unknown, first: unknown): unknown {
  return isAftermath(error) ? (first ?? error) : error
}

type Sender = {
  client: postgres.Sql
  repeated: RepeatedStatements
  send(query: Routed): void
}

/** Only the first failure counts, even if the work continues without the statement. */
function statementsOf({ client, repeated, send }: Sender, began: Promise<void>) {
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
    // Outside of the transaction, it would be committed separately.
    if (isOver) query.reject(new ConnectionError('CONNECTION_TRANSACTION_OVER'))
    else send(query)
  }
  const route = (query: Routed) => {
    query.catch(fail)
    if (isOpen || isOver || (!isHeld && READS.test(query.strings[0] ?? ''))) run(query)
    else {
      isHeld = true
      began.then(() => run(query), query.reject)
    }
  }
  const tx = createRoutedClient(client, {
    route,
    repeated,
    isInOrder: true,
  }) as unknown as postgres.TransactionSql
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
