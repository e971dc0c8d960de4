/**
 * New account keys, stored with the session before they are sent, so that a lost response cannot lose the keys, data
 * sealed to them, or the recovery key. The session uses them once the server returns them.
 */

import type { AccountKeys } from '../../client/account/account_keys.ts'
import { writeRecoveryKey } from '../../client/account/recovery.ts'
import { isTaken, type NextKeys, nextKeysOf } from '../../client/actions/rotate_keys.ts'
import { fromBase64, toBase64 } from '../../core/crypto/encoding.ts'
import { CliError } from '../terminal/cli_error.ts'
import { learnKeys } from '../trust/known_names.ts'
import type { Holder, OwnValues } from './own_values.ts'
import type { Session } from './session.ts'
import type { StoredSession } from './session_store.ts'

type Keeper = Pick<Session, 'store' | 'stored'>
type Warn = (text: string) => void

/** Null without pending keys. */
export async function nextOf({ next }: StoredSession): Promise<NextKeys | null> {
  const [seed, recoveryKey] = [next?.seed, next?.recoveryKey].map((text) => fromBase64(text ?? ''))
  return next && seed && recoveryKey ? nextKeysOf(seed, recoveryKey) : null
}

export async function keepNext(session: Keeper, next: NextKeys | null): Promise<void> {
  const texts = next && {
    seed: toBase64(next.keys.seed),
    recoveryKey: toBase64(next.recoveryKey),
  }
  await change(session, { next: texts })
}

/** With the person's own values, which are sealed to the previous keys. */
export async function takeNext(
  session: Keeper & Pick<Session, 'own' | 'server' | 'email' | 'knownNames'>,
  { keys }: NextKeys,
  warn: Warn,
): Promise<void> {
  const { own, server } = session
  const [privateKey, publicKey] = [toBase64(keys.privateKey), toBase64(keys.publicKey)]
  reseal(own, { server, publicKey, privateKey: keys.privateKey }, warn)
  learnKeys(session.knownNames, session.email, publicKey, session.stored.publicKey)
  await change(session, { privateKey, publicKey, seed: toBase64(keys.seed), next: null })
}

/** At a login that finds other keys than this machine had: they were replaced here, or elsewhere. */
export async function takeNewKeys(
  own: (holder: Holder) => OwnValues,
  before: StoredSession,
  keys: Pick<AccountKeys, 'privateKey' | 'publicKey'>,
  warn: Warn,
): Promise<void> {
  const { server } = before
  const publicKey = toBase64(keys.publicKey)
  const privateKey = fromBase64(before.privateKey) ?? new Uint8Array()
  reseal(own({ ...before, privateKey }), { server, publicKey, privateKey: keys.privateKey }, warn)
  const next = await nextOf(before)
  if (next && toBase64(next.keys.publicKey) === publicKey) warnRecoveryKey(next, warn)
}

/** Data that cannot be decrypted does not prevent the use of the keys. */
function reseal(own: OwnValues, next: Holder, warn: Warn): void {
  try {
    own.rekey(next)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    warn(error.message)
  }
}

/** Whether the server took the keys that were waiting. A server that cannot be asked is for the command to meet. */
export async function settleNext(session: Session, warn: Warn): Promise<boolean> {
  const next = await nextOf(session.stored)
  if (next === null) return false
  if (!(await isTaken(session.api, next.keys.publicKey).catch(() => false))) return false
  await takeNext(session, next, warn)
  warn(`The server accepted the new keys of ${session.email} that were sent earlier.`)
  warnRecoveryKey(next, warn)
  return true
}

/** Also with --json, because it is shown only once. */
export function warnRecoveryKey({ recoveryKey }: NextKeys, warn: Warn): void {
  warn('Their recovery key, unless you created a newer one:')
  warn(writeRecoveryKey(recoveryKey))
}

/** Another process may have renewed the session in the meantime. */
async function change({ store, stored }: Keeper, fields: Partial<StoredSession>): Promise<void> {
  await store.exclusively(async () => {
    Object.assign(stored, (await store.read()) ?? {}, fields)
    await store.write(stored)
  })
}
