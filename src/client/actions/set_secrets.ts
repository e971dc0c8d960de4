/** Values sealed for the server, and opened as it stored them: on a client only, the server has ciphertext. */

import { readUtf8, utf8 } from '../../core/crypto/encoding.ts'
import { OVERHEAD_BYTES } from '../../core/crypto/secret_value.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { readRoot } from '../../derivation/root.ts'
import { MAX_SEALED_BYTES, upsertSecrets } from '../../features/secrets/contract.ts'
import { type EnvironmentPlace, openWriter, storeRows } from '../environment.ts'
import { ApiError } from '../http/api.ts'
import { openSecret, sealSecret } from '../vault.ts'

/** Secrets in one request of the server. */
const BATCH = 500
/** Characters of ciphertext in one request, whose body may have 4 MiB. */
const MAX_BATCH_SIZE = 3_000_000

/** The server refuses a write without `policy` to a secret that has one. `null` removes the policy. */
export type Entry = {
  key: string
  value: string
  policy: Policy | null | undefined
  /** The version that was read, 0 for a new secret. A different version is not replaced. */
  expectedVersion?: number | undefined
}

/** Bytes of a value, in UTF-8. */
const MAX_BYTES = MAX_SEALED_BYTES - OVERHEAD_BYTES

/** Values that the server would reject. Nothing was sent. */
export class Unstorable extends Error {
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.name = 'Unstorable'
  }
}

/** `BIG has 131,072 bytes; the limit is 98,271`; null where the value can be stored. */
export function explainTooLarge(key: string, value: string): string | null {
  const bytes = new TextEncoder().encode(value).length
  if (bytes <= MAX_BYTES) return null
  const formatBytes = (count: number) => count.toLocaleString('en-US')
  return `${key} has ${formatBytes(bytes)} bytes; the limit is ${formatBytes(MAX_BYTES)}`
}

/**
 * Sends only after a check that all of them can be stored.
 *
 * @throws Unstorable, ApiError, UntrustedChain; Fault `unusable_secret` for a value that is not a root of its kind
 */
export async function uploadSecrets(
  place: EnvironmentPlace,
  entries: readonly Entry[],
  mayCreate: boolean,
) {
  const faults = entries.flatMap(({ key, value }) => explainTooLarge(key, value) ?? [])
  if (faults.length > 0) throw new Unstorable(faults)
  for (const { key, value, policy } of entries) {
    if (policy?.kind !== undefined) readRoot(policy.kind, utf8(value), key)
  }
  const { api, projectId, environment } = place
  const counts = { created: 0, updated: 0, isNewEnvironment: false }
  const write = openWriter(place)
  for (const secrets of batchesOf(entries.map((entry) => sealEntry(place, entry)))) {
    const body = { project_id: projectId, environment, secrets, create_environment: mayCreate }
    const writing = write(storeRows(secrets), (manifest) =>
      api.call(upsertSecrets, { body: { ...body, manifest } }),
    )
    const stored = await writing.catch((error) => {
      throw withNames(error, secrets)
    })
    counts.created += stored.created
    counts.updated += stored.updated
    counts.isNewEnvironment ||= stored.created_environment === true
  }
  return counts
}

/** Names the secrets that were refused: people do not know which one was the third of a request. */
function withNames(error: unknown, secrets: readonly { key: string }[]): unknown {
  if (!(error instanceof ApiError) || error.fields.length === 0) return error
  const { status, code: error_code, message, requestId: request_id } = error
  const fields = error.fields.map((field) => {
    const [, index, rest = ''] = /^secrets\.(\d+)(\..+)?$/.exec(field.path) ?? []
    const { key } = secrets[Number(index)] ?? {}
    return { ...field, path: key === undefined ? field.path : `${key}${rest}` }
  })
  const advice = { fix: error.fix ?? undefined, docs: error.docs ?? undefined }
  const named = { error_code, message, fields, request_id: request_id ?? undefined }
  return new ApiError(status, { ...named, ...advice })
}

function sealEntry(
  { workspace, projectId, environment }: EnvironmentPlace,
  { key, value, policy, expectedVersion }: Entry,
) {
  const at = { projectId, environment, key }
  const ciphertext = sealSecret(workspace, at, policy ?? null, value)
  const secret = { key, value: ciphertext, expected_version: expectedVersion }
  return policy === undefined ? secret : { ...secret, policy }
}

function* batchesOf<T extends { value: string }>(secrets: readonly T[]): Generator<T[]> {
  let batch: T[] = []
  let size = 0
  for (const secret of secrets) {
    if (batch.length === BATCH || size + secret.value.length > MAX_BATCH_SIZE) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(secret)
    size += secret.value.length
  }
  if (batch.length > 0) yield batch
}

export type SealedRow = { key: string; value?: string | undefined; policy?: unknown }

/** The value, or `null` if it cannot be decrypted at its place with its policy. */
export function openStoredValue(
  { workspace, projectId, environment }: Omit<EnvironmentPlace, 'api'>,
  stored: SealedRow,
): string | null {
  const at = { projectId, environment, key: stored.key }
  const policy = (stored.policy ?? null) as Policy | null
  const secret = openSecret(workspace, at, policy, stored.value ?? '')
  return secret && readUtf8(secret.reveal())
}
