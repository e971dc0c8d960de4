/** `cloakroom rekey-outer` for the command line. */

import type { Sql } from 'postgres'
import type { Config } from '../../core/config/config.ts'
import { parseOuterKeys } from '../../core/crypto/outer_keys.ts'
import { nameWithKeys } from '../../database/keys/live_keys.ts'
import { lockHolder } from '../../database/lock_holder.ts'
import type { Connection } from '../../database/open.ts'
import { withDatabase } from '../backup/make.ts'
import { askServer } from '../operator_socket.ts'
import { RekeyProblem } from './problem.ts'
import type { Progress } from './progress.ts'
import { type RekeyResult, rekey, type WantedRekey } from './rekey.ts'

export { countUnder } from './counts.ts'
export type { Progress, RekeyResult }
export { RekeyProblem }

type OnProgress = (progress: Progress) => void

/** Runs in the process that has the embedded database open, or directly in the database. @throws RekeyProblem */
export async function rekeyOuter(
  config: Config,
  wanted: WantedRekey,
  onProgress: OnProgress,
): Promise<RekeyResult> {
  const isEmbedded = config.DB_HOST === undefined
  const asked = isEmbedded ? await ask(config, wanted, onProgress) : null
  if (asked !== null) return asked
  const { signal } = new AbortController()
  return await withDatabase(config, { mayBeOlder: false }, (source) => {
    const isPooled = config.DB_LISTEN_HOST !== undefined
    const work = () => rekey({ ...source, isPooled, onProgress, signal }, wanted)
    // No other process has the embedded database open, and it has no second connection.
    return isEmbedded ? work() : runExclusively(source, work)
  })
}

async function ask(
  config: Config,
  wanted: WantedRekey,
  onProgress: OnProgress,
): Promise<RekeyResult | null> {
  const [{ id: key }] = parseOuterKeys(config.ENCRYPTION_KEY)
  const answer = await askServer(config.DATA_DIR, 'rekey-outer', { ...wanted, key })
  if (answer === null) return null
  if (!answer.ok || answer.body === null) throw new RekeyProblem(await answer.text())
  for await (const line of linesOf(answer.body)) {
    const received = JSON.parse(line) as RekeyEvent
    if (received.event === 'failed') throw new RekeyProblem(received.message)
    if (received.event !== 'done') onProgress(received)
    else {
      const { event: _, ...result } = received
      return result
    }
  }
  throw new RekeyProblem(ENDED)
}

type RekeyEvent =
  | Progress
  | { event: 'failed'; message: string }
  | ({ event: 'done' } & RekeyResult)

const ENDED = 'the server stopped during rekey-outer: run it again to continue'

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    throw new RekeyProblem(ENDED, { cause: error })
  }
}

const ADVISORY_LOCK = 6_021_023_016

type Database = Pick<Connection, 'sql' | 'connectBesides'> & { encryptionKey: string }

/**
 * Only one runs per PostgreSQL database: a direct session, not from a pooler, holds the lock while the pool does the
 * work. A second `rekey-outer` reports the lock's owner.
 *
 * @throws RekeyProblem
 */
async function runExclusively<T>(
  { sql, connectBesides, encryptionKey }: Database,
  work: () => Promise<T>,
): Promise<T> {
  // Its one session holds the lock.
  const holding = connectBesides(nameWithKeys(encryptionKey))
  try {
    const [row] = await holding<{ mine: boolean }[]>`
      select pg_try_advisory_lock(${ADVISORY_LOCK}) as mine`.catch((error: { code?: unknown }) => {
      throw new RekeyProblem(
        `could not connect to take the lock (${error.code}): check DB_LISTEN_HOST and DB_LISTEN_PORT`,
        { cause: error },
      )
    })
    if (!row?.mine) throw new RekeyProblem(await describeOtherSessions(sql))
    return await work()
  } finally {
    await holding.end({ timeout: 5 })
  }
}

async function describeOtherSessions(sql: Sql): Promise<string> {
  const holder = await lockHolder(sql, ADVISORY_LOCK)
  const who = holder
    ? `backend ${holder.pid} of PostgreSQL, from ${holder.place}, since ${holder.since}`
    : 'it is ending'
  return `another rekey-outer is running: ${who}`
}
