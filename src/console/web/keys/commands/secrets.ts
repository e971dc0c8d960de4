/** Secrets. Lists have no values, and only `reveal` returns one. */

import { compareEnvironments } from '../../../../client/actions/compare_environments.ts'
import { openStoredValue, uploadSecrets } from '../../../../client/actions/set_secrets.ts'
import { deleteStored, readProvenValues } from '../../../../client/actions/stored_secrets.ts'
import { readSecret, readSecrets } from '../../../../client/environment.ts'
import { fitReferenceMark, policyFor } from '../../../../client/secrets/final_policy.ts'
import { renewalOf } from '../../../../client/secrets/renewal_state.ts'
import type { Policy } from '../../../../core/policy/policy.ts'
import { failureFrom, Refused } from '../failure.ts'
import { environmentAt, type Place, placeIn } from '../places.ts'
import type { Progress } from '../reports.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const secretsCommands = { list, matrix, reveal, set, save, remove }

/** Verifies the list first if the workspace is signed. @throws UntrustedChain */
async function list(session: UnlockedSession, place: Place) {
  const secrets = await readSecrets(await environmentAt(session, place))
  return secrets.map(({ key, version, policy: shown, derived, updated_at }) => {
    const policy = (shown ?? null) as Policy | null
    return { key, version, policy, updatedAt: updated_at, renewal: renewalOf(policy, derived) }
  })
}

/**
 * Compares a project's environments without returning values. An environment that differs from what members signed is
 * listed with the reason, and without its secrets.
 */
async function matrix(
  session: UnlockedSession,
  { workspaceId, projectId }: Omit<Place, 'environment'>,
) {
  const place = await placeIn(session, workspaceId)
  session.names.demand(projectId)
  const { faults, ...compared } = await compareEnvironments(place, projectId)
  return {
    ...compared,
    faults: faults.map(({ environment, fault }) => ({ environment, fault: failureFrom(fault) })),
  }
}

/** Returns one value. @throws Refused `unreadable_value` */
async function reveal(session: UnlockedSession, { key, ...at }: Place & { key: string }) {
  const place = await environmentAt(session, at)
  const value = openStoredValue(place, await readSecret(place, key))
  if (value === null) throw new Refused('unreadable_value')
  return value
}

type Change = { key: string; value: string; policy?: Policy | null; expectedVersion?: number }

/** @throws Unstorable, ApiError `conflict` if the version changed since */
async function set(session: UnlockedSession, { secrets, ...at }: Place & { secrets: Change[] }) {
  const place = await environmentAt(session, at)
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
 * Stores one typed value under the existing policy.
 *
 * @throws Unstorable, Unproven, ApiError `conflict` if the version changed since
 */
async function save(session: UnlockedSession, { key, value, isSetting, ...at }: Place & Typed) {
  const { expectedVersion, ...where } = at
  const place = await environmentAt(session, where)
  const before = (await readProvenValues(place, [key])).get(key)
  const candidate = { key, value, policy: before?.policy ?? undefined, expectedVersion }
  const choice = isSetting ? 'plain' : 'sensitive'
  const policy = policyFor({ ...candidate, policyIs: 'decided' }, choice)
  await uploadSecrets(place, [fitReferenceMark({ ...candidate, policy })], true)
}

type Named = Place & { keys: readonly string[] }

/** Deletes secrets with all their versions, and stops at the first failure. They can be restored for 7 days. */
async function remove(
  session: UnlockedSession,
  { keys, ...at }: Named,
  progress: (progress: Progress) => void,
) {
  const place = await environmentAt(session, at)
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
