/** Reads that are recorded before the response, and those that may go unrecorded while the database is read-only. */
import { describeError, type Log } from '../core/log.ts'
import { traceWork } from '../core/trace/span.ts'
import { isUnwilling } from '../database/errors.ts'
import type { Reading } from '../database/open.ts'
import type { Endpoint } from './endpoint.ts'
import { type Actor, Recorder, type StoreNow } from './recorder.ts'
import type { Services } from './route.ts'

type Recording = { tx: Reading; actor?: Actor; holds?: Promise<boolean> | undefined }

/** @throws UnrecordedChange, which rolls the transaction back */
export async function recordChange<T>(
  { storeChanges, log }: Services,
  { name, method }: Endpoint,
  { tx, actor, holds }: Recording,
  change: (audit: Recorder) => T,
): Promise<{ result: Awaited<T>; isUnchanged: boolean }> {
  const isEager = method !== 'GET'
  const store: StoreNow = (by, changes) => storeChanges(tx, by, changes)
  const audit = new Recorder(name, store, { actor, isEager })
  const result = await change(audit)
  const { isUnchanged } = audit
  if ((await holds) === false) return { result, isUnchanged }
  const stored = traceWork('audit write', {}, () => audit.store())
  // A database that is lost may come back without this record: then nothing is shown.
  await (isEager
    ? stored
    : stored.catch(logUnlessStored(log, 'a read could not be recorded', name, isUnwilling)))
  return { result, isUnchanged }
}

/** Reads and refusals go on while the database takes no writes, as on a full disk; the log has them. */
export function logUnlessStored(
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
