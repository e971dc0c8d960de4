/** What is on record before the answer, and what may be missing there while the database takes no writes. */
import { describeError, type Log } from '../core/log.ts'
import { traced } from '../core/trace/span.ts'
import { isUnwilling } from '../database/errors.ts'
import type { Reading } from '../database/open.ts'
import type { Endpoint } from './endpoint.ts'
import type { Recorder } from './recorder.ts'
import type { Services } from './route.ts'

/** @throws UnrecordedChange, which rolls the transaction back */
export async function recorded<T>(
  { storeChanges, log }: Services,
  { name, method }: Endpoint,
  { tx, audit, holds }: { tx: Reading; audit: Recorder; holds?: Promise<boolean> | undefined },
  change: () => T,
): Promise<Awaited<T>> {
  const result = await change()
  if ((await holds) === false) return result
  const store = () => traced('audit write', {}, () => audit.store(tx, name, storeChanges))
  if (method === 'GET') {
    const stored = store()
    // A database that is lost may come back without this record: then nothing is shown.
    await stored.catch(onlyLogged(log, 'a read could not be put on record', name, isUnwilling))
  } else await store()
  return result
}

/** Reads and refusals go on while the database takes no writes, as on a full disk; the log has them. */
export function onlyLogged(
  log: Log,
  message: string,
  endpoint: string,
  isBearable: (error: unknown) => boolean,
) {
  return (error: unknown): void => {
    if (!isBearable(error)) throw error
    log.error(message, { endpoint, ...describeError(error) })
  }
}
