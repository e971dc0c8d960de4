/** Reads names and values with a token instead of a session, as far as the token may. */

import { InvalidToken, type SealedEnvironment } from '../../client/delivery/delivery.ts'
import { ApiError, openApi } from '../../client/http/api.ts'
import type { Capability } from '../../core/capability.ts'
import { parseToken } from '../../core/crypto/token.ts'
import { isUuid } from '../../core/validation/validate.ts'
import { getToken } from '../../features/workloads/contract.ts'
import { listCredentials } from '../../resolver/contract.ts'
import type { Context } from '../context.ts'
import type { Values } from '../files/formats.ts'
import { buildNotFoundError } from '../named.ts'
import { CliError } from '../terminal/cli_error.ts'
import { type Form, showValues } from '../values/references.ts'
import { runAtAddress } from '../wrong_address.ts'
import { environmentFor, readDelivery, tokenOf, tokenRefusal } from './given_token.ts'

/** The token that replaces a session. An account on the command line has priority. @throws CliError */
export function tokenInstead(
  context: Context,
  options: { token: string | undefined },
): string | undefined {
  if (context.accounts.flag === undefined) return tokenOf(context, options)
  if (options.token === undefined) return undefined
  throw new CliError('usage', '--token and --account exclude each other')
}

export type Credential = {
  key: string
  project_id: string
  environment: string
  description: string | null
}

/** Names of the environment that was named, or of all that the token is for. @throws ApiError, CliError */
export async function namesOfToken(context: Context, token: string): Promise<Credential[]> {
  const usable = await listUsableSecrets(context, token)
  if (usable === null) return namesToRead(context, token)
  const { environment } = await environmentFor(context, token, 'resolver')
  return usable
    .filter((credential) => environment === undefined || credential.environment === environment)
    .map(({ name, project_id, environment, description }) => ({
      key: name,
      project_id,
      environment,
      description,
    }))
}

/** The secrets that the token may use; null if it may only read. @throws ApiError, CliError */
async function listUsableSecrets(context: Context, token: string) {
  if (parseToken(token) === null) throw new InvalidToken(token)
  try {
    const resolver = await context.resolver()
    const answering = openApi(resolver, () => token).call(listCredentials, {})
    return await runAtAddress('resolver', resolver, answering)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'scope_required') return null
    throw tokenRefusal(error)
  }
}

async function namesToRead(context: Context, token: string): Promise<Credential[]> {
  const { sealed, projectId, environment } = await readDelivered(context, token)
  return Object.keys(sealed)
    .sort()
    .map((key) => ({ key, project_id: projectId, environment, description: null }))
}

/** Every value that is delivered to the token, opened here. @throws ApiError, CliError, UnresolvedReference */
export async function valuesOfToken(context: Context, token: string, form: Form): Promise<Values> {
  return showValues(await openDelivered(context, token), form)
}

/** Some of them, by name. @throws CliError for a name that is not there */
export async function valuesNamed(
  context: Context,
  token: string,
  keys: readonly string[],
  form: Form,
) {
  const opened = await openDelivered(context, token)
  const missing = keys.find((key) => !opened.has(key))
  if (missing !== undefined) {
    const kind = { what: 'secret', where: 'that this token may read', list: 'secrets list' }
    throw buildNotFoundError(missing, [...opened.keys()], kind)
  }
  const values = showValues(opened, form, keys)
  return keys.map((key) => ({ key, value: values[key] ?? '' }))
}

async function openDelivered(context: Context, token: string) {
  return (await readDelivered(context, token)).open()
}

async function readDelivered(context: Context, token: string): Promise<SealedEnvironment> {
  const { project } = context.settings
  // A token has its project. A token for several projects needs the ID.
  const place = project && isUuid(project.value) ? { project_id: project.value } : {}
  return readDelivery(context, token, {
    ...(await environmentFor(context, token, 'server')),
    ...place,
  })
}

/** The facts about a token. An agent asks the resolver, because it may reach nothing else. @throws ApiError, CliError */
export async function describeToken(context: Context, token: string) {
  const parsed = parseToken(token)
  if (parsed === null) throw new InvalidToken(token)
  const name = parsed.kind === 'agt' ? 'resolver' : 'server'
  const address = await context[name]()
  const answering = openApi(address, () => token).call(getToken, {})
  const told = await runAtAddress(name, address, answering).catch((error) => {
    throw tokenRefusal(error)
  })
  const isOld = ({ epoch }: { epoch: number }) => epoch !== told.epoch
  return {
    token: told.token_id,
    kind: told.kind,
    name: told.name,
    may: told.capabilities.map((capability) => MAY[capability]),
    can_decrypt: told.can_decrypt ? 'yes' : 'no: it is the sealed form',
    workspace: told.workspace_name,
    project: told.project_name ?? 'all',
    environment: told.environment ?? 'all',
    grants: told.provisioned.map(
      (grant) =>
        `${grant.project_name}/${grant.environment}${isOld(grant) ? ' (of an earlier key)' : ''}`,
    ),
    expires_at: told.expires_at ?? 'never',
    because: 'a token was given (--token, SERVICE_TOKEN or its file)',
  }
}

const MAY: Record<Capability, string> = { use: 'use credentials', read: 'read values' }
