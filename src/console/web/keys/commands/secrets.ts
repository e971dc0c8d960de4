/** Secrets: shown without their values, of which one leaves the worker when somebody asks to see it. */

import { compareEnvironments } from '../../../../client/actions/compare_environments.ts'
import { openedValue, uploadSecrets } from '../../../../client/actions/set_secrets.ts'
import { deleteStored, provenValues } from '../../../../client/actions/stored_secrets.ts'
import { readSecret, readSecrets } from '../../../../client/environment.ts'
import { fittingMark, policyFor } from '../../../../client/secrets/final_policy.ts'
import { renewalOf } from '../../../../client/secrets/renewal_state.ts'
import type { Policy } from '../../../../core/policy/policy.ts'
import { failureFrom, Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { environmentAt, type Place, placeIn } from '../places.ts'
import type { Progress } from '../reports.ts'

export const secretsCommands = { list, matrix, reveal, set, save, remove }

/** In a signed workspace all of it is verified first. @throws UntrustedChain */
async function list(held: HeldKeys, place: Place) {
  const secrets = await readSecrets(await environmentAt(held, place))
  return secrets.map(({ key, version, policy: shown, derived, updated_at }) => {
    const policy = (shown ?? null) as Policy | null
    return { key, version, policy, updatedAt: updated_at, renewal: renewalOf(policy, derived) }
  })
}

/**
 * All secrets of a project by environment; values stay here. An environment that is not what members signed is named
 * with why, and nothing of it is shown.
 */
async function matrix(held: HeldKeys, { workspaceId, projectId }: Omit<Place, 'environment'>) {
  const place = await placeIn(held, workspaceId)
  held.names.demand(projectId)
  const { faults, ...compared } = await compareEnvironments(place, projectId)
  return {
    ...compared,
    faults: faults.map(({ environment, fault }) => ({ environment, fault: failureFrom(fault) })),
  }
}

/** One value, for somebody to look at. @throws Refused `unreadable_value` */
async function reveal(held: HeldKeys, { key, ...at }: Place & { key: string }) {
  const place = await environmentAt(held, at)
  const value = openedValue(place, await readSecret(place, key))
  if (value === null) throw new Refused('unreadable_value')
  return value
}

type Change = { key: string; value: string; policy?: Policy | null; expectedVersion?: number }

/** @throws Unstorable, ApiError `conflict` where another version is there by now */
async function set(held: HeldKeys, { secrets, ...at }: Place & { secrets: Change[] }) {
  const place = await environmentAt(held, at)
  const entries = secrets.map(({ key, value, policy, expectedVersion }) => ({
    key,
    value,
    policy,
    expectedVersion,
  }))
  return uploadSecrets(place, entries, true)
}

type Typed = { key: string; value: string; expectedVersion: number; isSetting: boolean }

/**
 * One value that somebody typed, under the policy that is there.
 *
 * @throws Unstorable, Unproven, ApiError `conflict` where another version is there by now
 */
async function save(held: HeldKeys, { key, value, isSetting, ...at }: Place & Typed) {
  const { expectedVersion, ...where } = at
  const place = await environmentAt(held, where)
  const before = (await provenValues(place, [key])).get(key)
  const candidate = { key, value, policy: before?.policy ?? undefined, expectedVersion }
  const choice = isSetting ? 'plain' : 'sensitive'
  const policy = policyFor({ ...candidate, policyIs: 'decided' }, choice)
  await uploadSecrets(place, [fittingMark({ ...candidate, policy })], true)
}

type Named = Place & { keys: readonly string[] }

/** Each with its earlier versions; for 7 days they can be restored. Those before one that fails are deleted. */
async function remove(
  held: HeldKeys,
  { keys, ...at }: Named,
  progress: (progress: Progress) => void,
) {
  const place = await environmentAt(held, at)
  for (const [done, key] of keys.entries()) {
    progress({ step: key, done: done / keys.length })
    try {
      await deleteStored(place, key)
    } catch (error) {
      return { removed: keys.slice(0, done), failure: failureFrom(error) }
    }
  }
  return { removed: keys, failure: null }
}
