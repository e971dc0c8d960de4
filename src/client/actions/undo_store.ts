/** Undoes a write of several secrets: earlier values are stored again, and new secrets are deleted. */
import { type EnvironmentPlace, readSecrets } from '../environment.ts'
import { ApiError } from '../http/api.ts'
import { type Entry, openStoredValue, uploadSecrets } from './set_secrets.ts'
import { deleteStored, Unproven, versionsOf } from './stored_secrets.ts'

/** The stored version of a write. The ID differs for a secret that was deleted and added again under the same name. */
export type StoredVersion = { key: string; version: number; id: string | null }

export type Undone = {
  restored: string[]
  deleted: string[]
  /** Kept, because someone changed them after the write. */
  changed: string[]
}

const MAX_TRIES = 3
/** Secrets whose versions are read at the same time. */
const AT_ONCE = 8

/** The versions that a write of these entries has just stored. Each entry has its `expectedVersion`. */
export async function versionsAfter(
  place: EnvironmentPlace,
  entries: readonly Entry[],
): Promise<StoredVersion[]> {
  const listed = new Map((await readSecrets(place)).map(({ key, id }) => [key, id]))
  return entries.map(({ key, expectedVersion = 0 }) => ({
    key,
    version: expectedVersion + 1,
    id: listed.get(key) ?? null,
  }))
}

/**
 * Replaces only secrets that did not change after the write. They get back their previous policies.
 *
 * @throws Unproven before anything is changed; ApiError, UntrustedChain
 */
export async function undoStored(
  place: EnvironmentPlace,
  stored: readonly StoredVersion[],
): Promise<Undone> {
  for (let tries = 1; ; tries += 1) {
    const listed = new Map((await readSecrets(place)).map((secret) => [secret.key, secret]))
    const isUnchanged = ({ key, id, version }: StoredVersion) => {
      const now = listed.get(key)
      return now?.id === id && now.version === version
    }
    const unchanged = stored.filter(isUnchanged)
    const earlier = await readEarlierEntries(
      place,
      unchanged.filter(({ version }) => version > 1),
    )
    // All or none. After a concurrent write, reads again which ones are unchanged.
    const isStored = await storeUnlessChanged(place, earlier, tries < MAX_TRIES)
    if (!isStored) continue
    const created = unchanged.filter(({ version }) => version === 1).map(({ key }) => key)
    const deleted = await deleteUnchanged(place, created, listed)
    const done = new Set([...earlier.map(({ key }) => key), ...deleted])
    return {
      restored: earlier.map(({ key }) => key),
      deleted,
      changed: stored.map(({ key }) => key).filter((key) => !done.has(key)),
    }
  }
}

async function storeUnlessChanged(
  place: EnvironmentPlace,
  entries: readonly Entry[],
  mayRetry: boolean,
): Promise<boolean> {
  try {
    if (entries.length > 0) await uploadSecrets(place, entries, false)
    return true
  } catch (error) {
    if (!mayRetry || !isConflict(error)) throw error
    return false
  }
}

/** The previous versions, each stored only if the current version is unchanged. */
async function readEarlierEntries(
  place: EnvironmentPlace,
  stored: readonly StoredVersion[],
): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let from = 0; from < stored.length; from += AT_ONCE)
    entries.push(
      ...(await Promise.all(
        stored.slice(from, from + AT_ONCE).map((each) => readEarlierEntry(place, each)),
      )),
    )
  return entries
}

async function readEarlierEntry(
  place: EnvironmentPlace,
  { key, version }: StoredVersion,
): Promise<Entry> {
  const versions = await versionsOf(place, key)
  const before = versions.find((each) => each.version === version - 1)
  const value = before ? openStoredValue(place, { key, ...before }) : null
  if (!before || value === null) throw new Unproven([`${key}, version ${version - 1}`])
  const policy = (before.policy ?? null) as Entry['policy']
  return { key, value, policy, expectedVersion: version }
}

type Listed = Awaited<ReturnType<typeof readSecrets>>[number]

/** @returns the deleted names */
async function deleteUnchanged(
  place: EnvironmentPlace,
  names: readonly string[],
  listed: ReadonlyMap<string, Listed>,
): Promise<string[]> {
  const deleted: string[] = []
  for (const key of names) {
    const isDeleted = await deleteStored(place, key, listed.get(key)?.value_sha256).then(
      () => true,
      (error: unknown) => {
        if (!isConflict(error) && !isNotFound(error)) throw error
        return false
      },
    )
    if (isDeleted) deleted.push(key)
  }
  return deleted
}

const isConflict = (error: unknown) => error instanceof ApiError && error.code === 'conflict'
const isNotFound = (error: unknown) => error instanceof ApiError && error.code === 'not_found'
