/**
 * Storing values for people: policies of what is there stay unless another is given, and an environment
 * does not come into being because its name was mistyped.
 */
import { ApiError } from '../../client/api.ts'
import { deleting, openWriter, readNamed } from '../../client/environment.ts'
import { deleteSecret } from '../../features/secrets/contract.ts'
import type { Policy } from '../../platform/policy.ts'
import type { confirmOptions } from '../catalogue/options.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { environmentOf, type ProjectScope } from '../scope.ts'
import { onlyElsewhere, onSecret } from '../suggestions.ts'
import { CliError } from '../terminal/cli_error.ts'
import { confirmed } from '../terminal/confirmed.ts'
import { type Entry, opened, upload } from './sealing.ts'

/** Environments that every project is shown with. */
const USUAL = new Set(['development', 'staging', 'production'])

/** Asks before the first value goes into an environment of an unusual name, where there is someone to ask. */
export async function store(
  context: Context,
  scope: ProjectScope,
  entries: readonly Entry[],
  options: OptionValues<typeof confirmOptions>,
) {
  const { environment, project } = scope
  const isUsual = USUAL.has(environment)
  const asks = !isUsual && !options.yes && process.stdin.isTTY === true
  const send = (mayCreate: boolean) =>
    context.output.during('encrypting and uploading', upload(scope, entries, mayCreate))
  const counts = await send(!asks).catch(async (error) => {
    if (!asks || !(error instanceof ApiError) || error.status !== 404) throw error
    const elsewhere = await onlyElsewhere(scope)
    if (elsewhere !== null) await confirmed(options, `${elsewhere}. Make ${environment}?`)
    return send(true)
  })
  if (counts.isNewEnvironment && !isUsual && !asks) {
    context.output.warn(`${environment} is a new environment of ${project.name}`)
  }
  return counts
}

/** @throws CliError for one that is not there */
export async function deleteSecrets(scope: ProjectScope, keys: readonly string[]): Promise<void> {
  const { session, project, environment } = scope
  const write = openWriter(environmentOf(scope))
  for (const key of keys) {
    const params = { project_id: project.id, key }
    const work = write(deleting([key]), (manifest) =>
      session.api.call(deleteSecret, { params, query: { environment }, body: { manifest } }),
    )
    await onSecret(scope, key, work)
  }
}

export function reportStored(
  { output }: Context,
  { project, environment }: ProjectScope,
  { created, updated, deleted }: { created: number; updated: number; deleted?: number },
): void {
  const done = [`${created} created`, `${updated} updated`]
  if (deleted !== undefined) done.push(`${deleted} deleted`)
  output.done(`${project.name}/${environment}: ${done.join(', ')}.`, { created, updated, deleted })
}

export type StoredSecret = {
  policy: Policy | null
  /** `null` where it does not open: then the policy is not the one that it was sealed with. */
  value: string | null
  version: number
}

/** Of these names those that are stored in the environment, by name. */
export async function storedSecrets(
  scope: ProjectScope,
  names: readonly string[],
): Promise<Map<string, StoredSecret>> {
  const secrets = await readNamed(environmentOf(scope), new Set(names))
  return new Map(
    secrets.map((secret) => {
      const policy = (secret.policy ?? null) as Policy | null
      return [secret.key, { policy, value: opened(scope, secret), version: secret.version }]
    }),
  )
}

/**
 * The same for who writes: a policy that the server shows goes into the new ciphertext, so it must be the one
 * of the old ciphertext, which opens with no other. One that was altered in the database would be made good.
 *
 * @throws CliError `unproven_policy`
 */
export async function provenSecrets(
  scope: ProjectScope,
  names: readonly string[],
): Promise<Map<string, StoredSecret & { value: string }>> {
  const lost: string[] = []
  const proven = new Map<string, StoredSecret & { value: string }>()
  for (const [key, { value, ...stored }] of await storedSecrets(scope, names)) {
    if (value === null) lost.push(key)
    else proven.set(key, { ...stored, value })
  }
  if (lost.length > 0) throw unproven(lost)
  return proven
}

/** The error for secrets that do not open with the policy beside them. */
export function unproven(names: readonly string[]): CliError {
  return new CliError(
    'unproven_policy',
    `${names.join(', ')}: what is stored does not open with the policy that the server shows; nothing was stored`,
    "policy or value were altered: say which policy it is to have, with cloakroom secrets set NAME --policy '{…}', or --policy null",
  )
}
