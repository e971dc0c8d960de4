/**
 * The policy that a value is stored with. New names with obvious setting values become settings, which are neither
 * masked nor guarded. Existing ones stay as they are, unless the new value may be a secret. The policy carries it, so
 * that the ciphertext is bound to it.
 */
import { isSensitive, type Policy } from '../../core/policy/policy.ts'
import { isMarked } from '../../core/policy/references.ts'
import type { Entry } from '../actions/set_secrets.ts'
import type { ProvenValue } from '../actions/stored_secrets.ts'
import { isObviousSetting } from '../delivery/obvious_setting.ts'

export type Sensitivity = 'sensitive' | 'plain' | 'by value'

/** A value with its policy so far: none for a new name, the stored one, or an explicit one. */
export type Candidate = Entry & { policyIs: 'new' | 'stored' | 'decided' }

/** Values of a file: a value that is stored already stays under its policy. */
export function candidatesOf(
  values: Iterable<[string, string]>,
  stored: ReadonlyMap<string, ProvenValue>,
): Candidate[] {
  return [...values].map(([key, value]) => {
    const before = stored.get(key)
    const isKept = before?.value === value
    const policyIs = before ? (isKept ? 'decided' : 'stored') : 'new'
    const expectedVersion = before?.version ?? 0
    return { key, value, policy: before?.policy ?? undefined, policyIs, expectedVersion }
  })
}

export function policyFor(
  { key, value, policy, policyIs }: Candidate,
  choice: Sensitivity,
): Entry['policy'] {
  if (choice === 'plain') return { ...policy, sensitive: false }
  if (choice === 'sensitive') return asSecret(policy)
  if (policyIs === 'decided') return policy
  if (isObviousSetting(key, value)) return policyIs === 'new' ? { sensitive: false } : policy
  return asSecret(policy)
}

function asSecret(policy: Entry['policy']): Entry['policy'] {
  return isSensitive(policy) ? policy : withoutField(policy, 'sensitive')
}

/** A value that has a mark of references keeps it while it can hold one. */
export function fitReferenceMark(entry: Entry): Entry {
  const { value, policy } = entry
  const isOver = isMarked(policy) && !value.includes('${')
  return isOver ? { ...entry, policy: withoutField(policy, 'references') } : entry
}

/** A policy that was there, without one of its fields. */
export function withoutField(policy: Entry['policy'], field: keyof Policy): Policy | null {
  const { [field]: _, ...others }: Policy = policy ?? {}
  // Sent as null, which removes the policy. Omitting the field would be refused.
  return Object.keys(others).length > 0 ? others : null
}
