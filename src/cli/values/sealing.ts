/** Seals values for the server, and decrypts stored ones, for commands. */
import * as client from '../../client/actions/set_secrets.ts'
import { Fault } from '../../core/fault.ts'
import type { Entry as Opened } from '../../core/policy/references.ts'
import { environmentOf, type ProjectScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'

/** The documentation of roots. */
export const ROOT_HINT = 'The fields of each kind: docs/guides/connections.md'

export type { Entry } from '../../client/actions/set_secrets.ts'

/** Sends only after a check that all of it can be stored. @throws CliError */
export async function upload(
  scope: ProjectScope,
  entries: readonly client.Entry[],
  mayCreate: boolean,
) {
  try {
    return await client.uploadSecrets(environmentOf(scope), entries, mayCreate)
  } catch (error) {
    if (error instanceof Fault && error.code === 'unusable_secret') {
      throw new CliError('unusable_root', error.message, ROOT_HINT)
    }
    if (!(error instanceof client.Unstorable)) throw error
    throw new CliError('value_too_large', error.message.split('\n'), 'nothing was stored')
  }
}

/** The value, or `null` if it cannot be decrypted at its place with its policy. */
export function openStored(scope: ProjectScope, stored: client.SealedRow): string | null {
  return client.openStoredValue(environmentOf(scope), stored)
}

/** @throws CliError if it cannot be decrypted */
export function reveal(scope: ProjectScope, stored: client.SealedRow): string {
  const value = openStored(scope, stored)
  if (value !== null) return value
  throw new CliError(
    'unreadable_value',
    `${stored.key} cannot be decrypted with the workspace key`,
    'it was altered or sealed with another key',
  )
}

/** All values as stored. @throws CliError if one cannot be decrypted */
export function openListedSecrets(
  scope: ProjectScope,
  stored: readonly client.SealedRow[],
): Map<string, Opened> {
  return new Map(
    stored.map((secret) => [secret.key, { value: reveal(scope, secret), policy: secret.policy }]),
  )
}
