/** Lists, reveals and restores earlier versions and deleted secrets. */
import { openStoredValue } from '../../../../client/actions/set_secrets.ts'
import {
  proveDeleted,
  readStoredValues,
  restoreProven,
  rollBackTo,
  versionsOf,
} from '../../../../client/actions/stored_secrets.ts'
import { policyInWords } from '../../../../client/secrets/policy_in_words.ts'
import { isSamePolicy } from '../../../../core/crypto/secret_value.ts'
import { listDeletedSecrets } from '../../../../features/secrets/contract.ts'
import { Refused } from '../failure.ts'
import { environmentAt, type Place } from '../places.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const versionsCommands = { list, reveal, rollBack, deleted: listDeleted, restore }

type OfSecret = Place & { key: string }

/** Versions, newest first, each compared with the current one. */
async function list(session: UnlockedSession, { key, ...at }: OfSecret) {
  const place = await environmentAt(session, at)
  const [versions, stored] = await Promise.all([
    versionsOf(place, key),
    readStoredValues(place, [key]),
  ])
  const now = stored.get(key)
  return versions.map((version) => {
    const value = openStoredValue(place, { key, ...version })
    const isSameValue = value !== null && value === now?.value
    return {
      version: version.version,
      by: version.created_by_email,
      createdAt: version.created_at,
      words: policyInWords(version.policy),
      isNow: version.version === now?.version,
      isReadable: value !== null,
      isSameValue,
      isSame: isSameValue && isSamePolicy(version.policy, now?.policy),
    }
  })
}

/** @throws Refused `not_found`, `unreadable_value` */
async function reveal(
  session: UnlockedSession,
  { key, version, ...at }: OfSecret & { version: number },
) {
  const place = await environmentAt(session, at)
  const value = openStoredValue(place, await versionOf(place, key, version))
  if (value === null) throw new Refused('unreadable_value')
  return value
}

/** Restores a version with its policy. @throws Refused `not_found`, Unproven */
async function rollBack(
  session: UnlockedSession,
  { key, version, ...at }: OfSecret & { version: number },
) {
  const place = await environmentAt(session, at)
  await rollBackTo(place, await versionOf(place, key, version))
}

async function versionOf(place: Parameters<typeof versionsOf>[0], key: string, version: number) {
  const found = (await versionsOf(place, key)).find((each) => each.version === version)
  if (!found) throw new Refused('not_found')
  return { key, ...found }
}

async function listDeleted(session: UnlockedSession, at: Place) {
  const { api, projectId, environment } = await environmentAt(session, at)
  const params = { project_id: projectId }
  const found = await api.list(listDeletedSecrets, { params, query: { environment } })
  return found.map(({ key, version, deleted_at }) => ({ key, version, deletedAt: deleted_at }))
}

/** @throws Unproven, ApiError `already_exists` */
async function restore(
  session: UnlockedSession,
  { keys, ...at }: Place & { keys: readonly string[] },
) {
  const place = await environmentAt(session, at)
  await restoreProven(place, await proveDeleted(place, keys))
}
