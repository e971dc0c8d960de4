/** Decrypts an environment's values, a few at a time, to prepare the guard and create stand-ins. No value is kept. */

import type { SealedSecret } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import type { Secret } from '../../core/secret.ts'
import { listGuardedInPlaintext } from '../../derivation/guarded.ts'
import { type Guard, prepareGuardInSteps } from '../../leak_guard/index.ts'
import { type Derived, deriveValues } from '../../outbound/derived_values.ts'
import type { ObtainedTokens } from '../../outbound/obtained_tokens.ts'
import { shapeByPolicy, UNREADABLE } from '../../outbound/stand_ins/shaped.ts'
import type { ProxyCredential } from '../backend.ts'
import type { LocalDerivation } from './derivation.ts'

export type Open = (sealed: SealedSecret) => Secret

/** Values made from secrets: tokens that APIs issued, and derived credentials. */
export type Made = { obtained: ObtainedTokens; derivation: LocalDerivation | null }

const OPENED_AT_ONCE = 32

/** A guard for every value that opens: others cannot be used either. */
export async function prepareValues(
  sealed: readonly SealedSecret[],
  open: Open,
  { obtained, derivation }: Made,
): Promise<Guard> {
  const secrets = sealed.filter(({ policy }) => policy?.sensitive !== false)
  const values: Derived = []
  const made: Derived = []
  await openEach(secrets, open, (entry, value) => {
    const { key: name, policy } = entry
    if (!value) return
    if (policy?.kind) {
      const guarded =
        derivation?.listGuarded(entry, value) ?? listGuardedInPlaintext(policy.kind, value.reveal())
      values.push(...guarded.map((bytes) => ({ name, bytes })))
      return
    }
    const bytes = value.reveal()
    values.push({ name, bytes })
    made.push(...deriveValues(name, bytes, policy), ...obtained.of(name, bytes))
  })
  return prepareGuardInSteps(values, waitForNextTurn, made)
}

/** Returns the shapes of stand-ins. */
export async function shapeAll(
  sealed: readonly SealedSecret[],
  open: Open,
): Promise<ProxyCredential[]> {
  const credentials: ProxyCredential[] = []
  await openEach(sealed, open, ({ key: name, policy }, value) => {
    const locations = policy?.allowed_locations ?? null
    const shaped = value ? shapeByPolicy(policy, value.reveal(), true) : UNREADABLE
    credentials.push({ name, locations, ...shaped })
  })
  return credentials
}

/** Decrypts a few values at a time, so that the proxy stays responsive. `null` for an unreadable value. */
async function openEach(
  sealed: readonly SealedSecret[],
  open: Open,
  take: (sealed: SealedSecret, value: Secret | null) => void,
): Promise<void> {
  for (const [at, entry] of sealed.entries()) {
    if (at % OPENED_AT_ONCE === OPENED_AT_ONCE - 1) await waitForNextTurn()
    take(entry, openedOf(entry, open))
  }
}

function openedOf(entry: SealedSecret, open: Open): Secret | null {
  try {
    return open(entry)
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

function waitForNextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
