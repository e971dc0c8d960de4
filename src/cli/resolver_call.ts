/** What the commands that use a token have in common: the token, its environment, and a call. */
import { AnswerError, ApiError, type CallInput, type CallResult, openApi } from '../client/api.ts'
import { fromBase64 } from '../platform/crypto/encoding.ts'
import { resolveCall } from '../resolver/contract.ts'
import type { Context } from './context.ts'
import { demandProjectFile } from './project_file.ts'
import { CliError } from './terminal/cli_error.ts'

type TokenOption = { token: string | undefined }
export type Answer = CallResult<typeof resolveCall>

/** Of the option, else of the environment. */
export function tokenOf({ env }: Context, { token }: TokenOption): string | undefined {
  return token ?? env.SERVICE_TOKEN
}

/** @throws CliError when there is none */
export function requireToken(context: Context, options: TokenOption): string {
  const token = tokenOf(context, options)
  if (token) return token
  throw new CliError(
    'token_required',
    'an agent token is needed',
    'name an agent of yours with --agent, set SERVICE_TOKEN, or make a token: cloakroom agent create <name>',
  )
}

/** The environment if it was named: a token knows its own otherwise. @throws CliError */
export function namedEnvironment(context: Context): { environment?: string } {
  demandProjectFile(context, 'environment', 'project')
  const { environment } = context.settings
  return environment && environment.origin !== 'default' ? { environment: environment.value } : {}
}

/** What is said of a token that is not accepted: logging in would not help. */
export function tokenRefusal(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'invalid_token') return error
  return new CliError(
    'invalid_token',
    'the token is not accepted: it is not of this server, revoked or expired (invalid_token)',
    'an admin issues another with: cloakroom token issue, or workload-token issue; without SERVICE_TOKEN your session counts',
  )
}

async function asToken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw tokenRefusal(error)
  }
}

/** One request through the resolver. @throws ApiError, AnswerError */
export async function callResolver(
  context: Context,
  token: string,
  request: CallInput<typeof resolveCall>['body'],
  signal?: AbortSignal,
): Promise<Answer> {
  const body = { ...request, ...namedEnvironment(context) }
  const resolver = await context.resolver()
  const answer = await asToken(
    openApi(resolver, () => token, { signal }).call(resolveCall, { body }),
  )
  if (answer.body_encoding !== 'base64' || fromBase64(answer.body) !== null) return answer
  throw new AnswerError(resolver, 'answered with a body that is not the base64 that it says it is')
}
