/** The token of a command: its source, its environment, and its delivered secrets. */
import {
  type AskedScope,
  type DeliveryMemory,
  fetchEnvironment,
  type SealedEnvironment,
} from '../../client/delivery/delivery.ts'
import { ApiError, openApi } from '../../client/http/api.ts'
import { namesOfProjects } from '../../client/known_names.ts'
import { formatSealedToken, parseToken } from '../../core/crypto/token.ts'
import { isUuid } from '../../core/validation/validate.ts'
import { getToken } from '../../features/workloads/contract.ts'
import type { Context } from '../context.ts'
import { demandProjectFile } from '../project_file.ts'
import type { AddressName, Origin } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'
import { openKnownNames } from '../trust/known.ts'
import { openKnownDeliveries } from '../trust/known_deliveries.ts'
import { runAtAddress } from '../wrong_address.ts'

/** The trace that a request belongs to, if it is of one. */
export type Tracing = { traceparent?: string | undefined }
type TokenOption = { token: string | undefined }

/** The token of the option, else of the environment. @throws CliError */
export function tokenOf(context: Context, { token }: TokenOption): string | undefined {
  return token ?? context.givenToken()
}

/** @throws CliError without a token */
export function requireToken(context: Context, options: TokenOption): string {
  const token = tokenOf(context, options)
  if (token) return token
  throw new CliError(
    'token_required',
    'an agent token is needed',
    'pass --agent, set SERVICE_TOKEN or SERVICE_TOKEN_FILE, or create a token: cloakroom agent create <name>',
  )
}

/** The environment that someone named: by flag, variable or file. @throws CliError for a broken project file */
export function readNamedEnvironment(context: Context): { environment?: string } {
  demandProjectFile(context, 'environment', 'project')
  const { environment } = context.settings
  return environment && environment.origin !== 'default' ? { environment: environment.value } : {}
}

const FILES: readonly (Origin | undefined)[] = ['project file', 'global file']
/** Milliseconds to wait for a token's description. Its later use reports an unavailable server. */
const TOKEN_MS = 3_000

/**
 * The environment to ask for with a token. A file has the choice of the person who committed it, so a token's own
 * environment wins over it. A flag or variable does not give way. The server or resolver is asked once per command.
 *
 * @throws CliError for a broken project file
 */
export function environmentFor(
  context: Context,
  token: string,
  from: AddressName,
  tracing: Tracing = {},
): Promise<{ environment?: string }> {
  const known = asked.get(context)
  if (known?.token === token) return known.answer
  const answer = askForEnvironment(context, token, from, tracing)
  asked.set(context, { token, answer })
  return answer
}

const asked = new WeakMap<Context, { token: string; answer: ReturnType<typeof environmentFor> }>()

async function askForEnvironment(
  context: Context,
  token: string,
  from: AddressName,
  { traceparent }: Tracing,
) {
  const named = readNamedEnvironment(context)
  const { environment: setting } = context.settings
  const parsed = parseToken(token)
  if (named.environment === undefined || !FILES.includes(setting?.origin) || !parsed) return named
  // The control plane gets the form that opens nothing.
  const sent = from === 'server' ? formatSealedToken(parsed.id, parsed.secret) : token
  const answer = await openApi(await context[from](), () => sent, {
    timeoutMs: TOKEN_MS,
    traceparent,
  })
    .call(getToken, {})
    .catch(() => null)
  // A failed answer is not remembered: a long-running command asks again.
  if (answer === null) asked.delete(context)
  const own = answer?.environment ?? named.environment
  if (own === named.environment) return named
  context.output.note(
    `the token is for ${own}, so ${named.environment} of the ${setting?.origin} is not used`,
  )
  return {}
}

/** A token of one project needs no name. For a token of several projects, the project that was typed as an ID. */
export function readNamedProject(context: Context): { project_id?: string } {
  const typed = readTypedProject(context)
  return typed !== undefined && isUuid(typed) ? { project_id: typed } : {}
}

function readTypedProject({ settings: { project } }: Context): string | undefined {
  return project?.origin === 'flag' || project?.origin === 'environment' ? project.value : undefined
}

/** The delivery to a token, for the given project. @throws ApiError, CliError */
export async function readDelivery(
  context: Context,
  token: string,
  scope: AskedScope,
  memory: DeliveryMemory = openKnownDeliveries(context.env, parseToken(token)?.id ?? ''),
): Promise<SealedEnvironment> {
  const server = await context.server()
  const delivery = await asToken(
    runAtAddress('server', server, fetchEnvironment(server, token, scope, memory)),
  )
  const { workspaceId, projectId } = delivery
  const typed = scope.project_id ?? readTypedProject(context)
  if (typed === undefined || typed === projectId) return delivery
  const names = openKnownNames(context.env, server)
  const known = isUuid(typed) ? [typed] : names.idsOf(namesOfProjects({ id: workspaceId }), typed)
  // A machine that has seen nothing, as a CI's, has the token's word, which is signed.
  if (known.length === 0 || known.includes(projectId)) return delivery
  throw new CliError(
    'changed_name',
    `this token is for the project ${projectId}, but ${typed} is ${known.join(' or ')}; nothing was done`,
    'use a token for that project, or omit -p',
  )
}

/** The error for a rejected token, because signing in would not help. */
export function tokenRefusal(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'invalid_token') return error
  return new CliError(
    'invalid_token',
    'token rejected: it is from another server, revoked or expired (invalid_token)',
    'ask an admin for another: cloakroom token issue, or workload-token issue; unset SERVICE_TOKEN to use your session',
  )
}

export async function asToken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw tokenRefusal(error)
  }
}
