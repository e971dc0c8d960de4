/** An environment for a program, opened here: by a token where there is one, else by the session. */
import { fetchEnvironment } from '../client/delivery.ts'
import { listSecrets } from '../features/secrets/contract.ts'
import type { Context } from './context.ts'
import { namedEnvironment, tokenOf, tokenRefusal } from './resolver_call.ts'
import { type ProjectScope, projectScope } from './scope.ts'
import { reveal } from './sealing.ts'
import { refuseEmpty } from './suggestions.ts'

/** The values by name, each with its policy, which its ciphertext is bound to. */
export type Delivered = Record<string, { value: string; policy: unknown }>

type Options = { token: string | undefined; allowEmpty: boolean | undefined }

/** @throws ApiError, CliError */
export async function deliver(context: Context, options: Options): Promise<Delivered> {
  const token = tokenOf(context, options)
  if (token) return deliverToToken(context, token, namedEnvironment(context))
  const scope = await projectScope(context)
  const delivered = await deliverToMember(scope)
  if (delivered === null) await refuseEmpty(scope, options)
  return delivered ?? {}
}

/** @throws ApiError, CliError */
export async function deliverToToken(
  context: Context,
  token: string,
  scope: { project_id?: string; environment?: string },
): Promise<Delivered> {
  const delivery = fetchEnvironment(await context.server(), token, scope)
  const { sealed, open } = await delivery.catch((error: unknown) => {
    throw tokenRefusal(error)
  })
  const opened = Object.entries(await open())
  return Object.fromEntries(
    opened.map(([name, value]) => [name, { value, policy: sealed[name]?.policy ?? null }]),
  )
}

/**
 * Secrets whose policy does not list `env` stay where they are, as in delivery by token; `null` for an
 * environment that has none at all.
 */
export async function deliverToMember(scope: ProjectScope): Promise<Delivered | null> {
  const { session, project, environment } = scope
  const query = { environment, include: 'value' as const }
  const stored = await session.api.list(listSecrets, { params: { project_id: project.id }, query })
  const meant = stored.filter(({ policy }) => allowsEnvironment(policy))
  if (stored.length === 0) return null
  return Object.fromEntries(
    meant.map((secret) => [secret.key, { value: reveal(scope, secret), policy: secret.policy }]),
  )
}

function allowsEnvironment(policy: unknown): boolean {
  const locations = (policy as { allowed_locations?: string[] } | null)?.allowed_locations
  return locations?.includes('env') ?? true
}
