/**
 * Storing values for people: policies of what is there stay unless another is given, and an environment
 * does not come into being because its name was mistyped.
 */
import { ApiError } from '../client/api.ts'
import { listSecrets } from '../features/secrets/contract.ts'
import type { Policy } from '../platform/policy.ts'
import type { confirmOptions } from './catalogue/options.ts'
import type { OptionValues } from './command.ts'
import type { Context } from './context.ts'
import type { ProjectScope } from './scope.ts'
import { type Entry, upload } from './sealing.ts'
import { onlyElsewhere } from './suggestions.ts'
import { confirmed } from './terminal/confirmed.ts'

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

/** The policies of the secrets of the environment, `null` for those that have none. */
export async function presentPolicies({ session, project, environment }: ProjectScope) {
  const params = { project_id: project.id }
  const stored = await session.api.list(listSecrets, { params, query: { environment } })
  return new Map(stored.map(({ key, policy }) => [key, (policy ?? null) as Policy | null]))
}
