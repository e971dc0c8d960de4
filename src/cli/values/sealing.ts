/** Sealing values for the server and opening what it stored: here only, the server has ciphertext. */
import { ApiError } from '../../client/api.ts'
import { openWriter, storing } from '../../client/environment.ts'
import { openSecret, sealSecret } from '../../client/vault.ts'
import { sealedValue, upsertSecrets } from '../../features/secrets/contract.ts'
import type { Policy } from '../../platform/policy.ts'
import type { Entry as Opened } from '../../platform/references.ts'
import { environmentOf, type ProjectScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'

/** Secrets in one request of the server. */
const BATCH = 500
/** Characters of ciphertext in one request, whose body may have 4 MiB. */
const MAX_BATCH_SIZE = 3_000_000

/** Without a policy the server refuses a secret that has one: `null` takes it away. */
export type Entry = {
  key: string
  value: string
  policy: Policy | null | undefined
  /** The version that was read, 0 where there was none: another one is not replaced. */
  expectedVersion?: number | undefined
}

/** Nothing is sent before it is certain that all of it can be stored. @throws CliError */
export async function upload(scope: ProjectScope, entries: readonly Entry[], mayCreate: boolean) {
  const { session, project, environment } = scope
  const counts = { created: 0, updated: 0, isNewEnvironment: false }
  const write = openWriter(environmentOf(scope))
  for (const secrets of batchesOf(entries.map((entry) => sealed(scope, entry)))) {
    const body = { project_id: project.id, environment, secrets, create_environment: mayCreate }
    const writing = write(storing(secrets), (manifest) =>
      session.api.call(upsertSecrets, { body: { ...body, manifest } }),
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

/** What was refused is told by name: people do not know which one was the third of a request. */
function withNames(error: unknown, secrets: readonly { key: string }[]): unknown {
  if (!(error instanceof ApiError)) return error
  const { status, code: error_code, message, requestId: request_id } = error
  const fields = error.fields.map((field) => {
    const [, index] = /^secrets\.(\d+)$/.exec(field.path) ?? []
    return { ...field, path: secrets[Number(index)]?.key ?? field.path }
  })
  return new ApiError(status, { error_code, message, fields, request_id: request_id ?? undefined })
}

function sealed(
  { workspace, project, environment }: ProjectScope,
  { key, value, policy, expectedVersion }: Entry,
) {
  const at = { projectId: project.id, environment, key }
  const ciphertext = sealSecret(workspace.open, at, policy ?? null, value)
  if (sealedValue.safeParse(ciphertext).success) {
    const secret = { key, value: ciphertext, expected_version: expectedVersion }
    return policy === undefined ? secret : { ...secret, policy }
  }
  throw new CliError('usage', `${key} is empty or too long to be stored`, 'nothing was stored')
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

type Stored = { key: string; value?: string | undefined; policy?: unknown }

/** The value, or `null` where it does not open at its place with its policy. */
export function opened({ workspace, project, environment }: ProjectScope, stored: Stored) {
  const at = { projectId: project.id, environment, key: stored.key }
  const policy = (stored.policy ?? null) as Policy | null
  const secret = openSecret(workspace.open, at, policy, stored.value ?? '')
  return secret && Buffer.from(secret.reveal()).toString()
}

/** @throws CliError where it does not open */
export function reveal(scope: ProjectScope, stored: Stored): string {
  const value = opened(scope, stored)
  if (value !== null) return value
  throw new CliError(
    'unreadable_value',
    `${stored.key} does not open with the workspace key`,
    'it was altered, or sealed under another key',
  )
}

/** Each as it is stored. @throws CliError where one does not open */
export function openedSecrets(scope: ProjectScope, stored: readonly Stored[]): Map<string, Opened> {
  return new Map(
    stored.map((secret) => [secret.key, { value: reveal(scope, secret), policy: secret.policy }]),
  )
}
