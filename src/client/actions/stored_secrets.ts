/** Reads and decrypts stored secrets, and deletes, restores or rolls them back. */

import { toBase64Url } from '../../core/crypto/encoding.ts'
import { isSamePolicy } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import type { Policy } from '../../core/policy/policy.ts'
import {
  deleteSecret,
  listDeletedSecrets,
  listVersions,
  restoreSecretsEndpoint,
  rollBackSecret,
} from '../../features/secrets/contract.ts'
import type { Rows } from '../../sigchain/index.ts'
import {
  type EnvironmentPlace,
  openWriter,
  readNamed,
  readSecret,
  readSecrets,
  removeRows,
  storeRows,
} from '../environment.ts'
import { ApiError } from '../http/api.ts'
import { type Entry, openStoredValue, type SealedRow } from './set_secrets.ts'

export type StoredValue = {
  policy: Policy | null
  /** `null` if it cannot be decrypted: the policy is not the one it was sealed with. */
  value: string | null
  version: number
}

/** Values that cannot be decrypted with their policy or in their place. Nothing was stored. */
export class Unproven extends Error {
  readonly names: readonly string[]

  constructor(names: readonly string[]) {
    super(
      `${names.join(', ')}: the stored value cannot be decrypted with the policy from the server; nothing was stored`,
    )
    this.name = 'Unproven'
    this.names = names
  }
}

function policyOf({ policy }: SealedRow): Policy | null {
  return (policy ?? null) as Policy | null
}

/** The stored secrets with these names, by name. */
export async function readStoredValues(
  place: EnvironmentPlace,
  names: readonly string[],
): Promise<Map<string, StoredValue>> {
  const secrets = await readNamed(place, new Set(names))
  return new Map(
    secrets.map((secret) => [
      secret.key,
      { policy: policyOf(secret), value: openStoredValue(place, secret), version: secret.version },
    ]),
  )
}

export type ProvenValue = StoredValue & { value: string }

/** @throws ApiError `not_found`, Unproven */
export async function readProvenValue(place: EnvironmentPlace, key: string): Promise<ProvenValue> {
  const stored = await readSecret(place, key)
  const value = openStoredValue(place, stored)
  if (value === null) throw new Unproven([key])
  return { value, policy: policyOf(stored), version: stored.version }
}

/**
 * Like above, for writes: the policy from the server goes into the new ciphertext, so it must be the one of the old
 * ciphertext. Otherwise, a policy that was altered in the database would become valid.
 *
 * @throws Unproven
 */
export async function readProvenValues(
  place: EnvironmentPlace,
  names: readonly string[],
): Promise<Map<string, ProvenValue>> {
  return provenOf(place, await readNamed(place, new Set(names)))
}

/**
 * Whether the value belongs to one place: a refresh token may be used once, so a second copy would end the first
 * (protocol 13.5).
 */
export function cannotBeCopied({ value, policy }: Pick<Entry, 'value' | 'policy'>): boolean {
  return policy?.kind === 'oauth2' && 'refresh_token' in JSON.parse(value)
}

/**
 * All secrets of an environment, or some by name, to be stored elsewhere.
 *
 * @throws Unproven; Fault `unusable_secret` for a named one that cannot be copied
 */
export async function readProvenEntries(
  place: EnvironmentPlace,
  names?: readonly string[],
): Promise<Entry[]> {
  const secrets = names
    ? await readNamed(place, new Set(names))
    : await readSecrets(place, { include: 'value' })
  const entries = [...provenOf(place, secrets)].map(([key, { value, policy }]) => ({
    key,
    value,
    policy,
  }))
  const [root] = names === undefined ? [] : entries.filter(cannotBeCopied)
  if (root === undefined) return entries
  throw new Fault('unusable_secret', {
    message: `${root.key} has a refresh token, which works in only one place. Nothing was copied.`,
  })
}

function provenOf(
  place: EnvironmentPlace,
  secrets: Awaited<ReturnType<typeof readNamed>>,
): Map<string, ProvenValue> {
  const lost: string[] = []
  const proven = new Map<string, ProvenValue>()
  for (const secret of secrets) {
    const value = openStoredValue(place, secret)
    if (value === null) lost.push(secret.key)
    else proven.set(secret.key, { policy: policyOf(secret), value, version: secret.version })
  }
  if (lost.length > 0) throw new Unproven(lost)
  return proven
}

export type ValueChange = 'new' | 'value' | 'policy' | 'same'
export type Compared = { entry: Entry; change: ValueChange }

/** The changes that storing entries would make, by name. Values are compared and never shown. */
export function compareEntries(
  stored: ReadonlyMap<string, StoredValue>,
  entries: readonly Entry[],
): Compared[] {
  return entries.map((entry) => ({ entry, change: changeOf(entry, stored.get(entry.key)) }))
}

function changeOf({ value, policy }: Entry, before: StoredValue | undefined): ValueChange {
  if (!before) return 'new'
  if (before.value !== value) return 'value'
  return isSamePolicy(policy, before.policy) ? 'same' : 'policy'
}

export function changedOf(compared: readonly Compared[]): Entry[] {
  return compared.flatMap(({ entry, change }) => (change === 'same' ? [] : entry))
}

/**
 * Deletes a secret with its earlier versions; for 7 days it can be restored. With `hash`, only while the signed
 * manifest names that value. Plain workspaces have no hashes.
 *
 * @throws ApiError `not_found`, and `conflict` for another value
 */
export async function deleteStored(
  place: EnvironmentPlace,
  key: string,
  hash?: string | null,
): Promise<void> {
  const { api, projectId, environment } = place
  const params = { project_id: projectId, key }
  const edit = (rows: Rows) => {
    const row = rows.get(key)
    if (hash && row && toBase64Url(row) !== hash) throw new ApiError(409, CONFLICT)
    return removeRows([key])(rows)
  }
  await openWriter(place)(edit, (manifest) =>
    api.call(deleteSecret, { params, query: { environment }, body: { manifest } }),
  )
}

const CONFLICT = { error_code: 'conflict' }

/** Newest first, with their ciphertexts. */
export async function versionsOf({ api, projectId, environment }: EnvironmentPlace, key: string) {
  const params = { project_id: projectId, key }
  return api.list(listVersions, { params, query: { environment, include: 'value' } })
}

type Version = Awaited<ReturnType<typeof versionsOf>>[number] & { key: string }

/**
 * Makes an earlier value the newest: its ciphertext binds the place and the policy, not the number. So the
 * policy of then comes back with it, proven by opening it.
 *
 * @throws Unproven
 */
export async function rollBackTo(place: EnvironmentPlace, earlier: Version) {
  const { api, projectId, environment } = place
  const { key, version } = earlier
  if (openStoredValue(place, earlier) === null) throw new Unproven([`${key}, version ${version}`])
  const params = { project_id: projectId, key }
  return openWriter(place)(storeRows([earlier]), (manifest) => {
    const body = { version, policy: policyOf(earlier), manifest }
    return api.call(rollBackSecret, { params, query: { environment }, body })
  })
}

/** Names in one request of the server. */
const BATCH = 500

/**
 * With their ciphertexts. Each one was decrypted here, because its hash will be signed.
 *
 * @throws Unproven
 */
export async function proveDeleted(place: EnvironmentPlace, chosen: readonly string[]) {
  const { api, projectId, environment } = place
  const listed = await api.list(listDeletedSecrets, {
    params: { project_id: projectId },
    query: { environment, include: 'value' },
  })
  const found = listed.filter(({ key }) => chosen.includes(key))
  const lost = chosen.filter((name) => {
    const secret = found.find(({ key }) => key === name)
    return !secret?.value || openStoredValue(place, { ...secret, value: secret.value }) === null
  })
  if (lost.length > 0) throw new Unproven(lost)
  return found
}

/** The proven secrets. */
export async function restoreProven(
  place: EnvironmentPlace,
  proven: Awaited<ReturnType<typeof proveDeleted>>,
): Promise<void> {
  const { api, projectId, environment } = place
  const params = { project_id: projectId }
  const write = openWriter(place)
  for (let start = 0; start < proven.length; start += BATCH) {
    const batch = proven.slice(start, start + BATCH)
    const keys = batch.map(({ key }) => key)
    await write(storeRows(batch), (manifest) =>
      api.call(restoreSecretsEndpoint, { params, body: { environment, keys, manifest } }),
    )
  }
}
