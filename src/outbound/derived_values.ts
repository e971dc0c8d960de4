/**
 * Values that derive from a secret without other data of a call: its parts, and signatures of templates without
 * variables. A call that uses one may store it at an API, and the next call reads it back. So the guard includes these
 * in every call, used or not (protocol 6.1).
 */

import type { Policy } from '../core/policy/policy.ts'
import type { MadeBytes } from '../leak_guard/index.ts'
import { listFixedSignatures } from './signing/sign.ts'
import { partNames, partOf } from './stand_ins/parts.ts'

export type Derived = MadeBytes[]

/** Whether a policy allows a value in a body, or limits operations or methods, which a body may override. */
export function scansBodies({ policy }: { policy: Policy | null }): boolean {
  const { allowed_methods, allowed_operations, read_only } = policy ?? {}
  if ((allowed_methods ?? allowed_operations ?? read_only) !== undefined) return true
  return ['json', 'form'].some((one) => policy?.allowed_locations?.some((place) => place === one))
}

export function deriveValues(name: string, value: Uint8Array, policy: Policy | null): MadeBytes[] {
  const parts = partNames.flatMap((part) => {
    const bytes = partOf(value, part)
    const isGuarded = bytes && (part !== 'USER' || isDistinctive(bytes))
    return isGuarded ? [{ name: `${name}__${part}`, bytes }] : []
  })
  const signatures = listFixedSignatures(value, policy ?? {})
  return [...parts, ...signatures.map((bytes) => ({ name, bytes, hasFragments: true }))]
}

/** A user name such as `postgres` is a common word in responses and must not be redacted. */
function isDistinctive(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1')
  return /[0-9]/.test(text) && /[A-Za-z]/.test(text)
}
