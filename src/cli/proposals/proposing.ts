/** An agent's side of proposals: it asks, and a refused call names the way to ask. */
import { ApiError, type CallInput, openApi } from '../../client/http/api.ts'
import { createProposal } from '../../features/proposals/contract.ts'
import type { Context } from '../context.ts'
import { asToken } from '../tokens/given_token.ts'
import { runAtAddress } from '../wrong_address.ts'

/** Answers the state of an equal proposal, if there is one. @throws ApiError, AnswerError */
export async function propose(
  context: Context,
  token: string,
  body: CallInput<typeof createProposal>['body'],
  signal?: AbortSignal,
) {
  const resolver = await context.resolver()
  const answering = openApi(resolver, () => token, { signal }).call(createProposal, { body })
  return asToken(runAtAddress('resolver', resolver, answering))
}

const PROPOSABLE: readonly string[] = ['domain_blocked', 'unknown_secret']

/** A call's refusal, with a hint how to request access. */
export function withWayToAsk(error: unknown, way: string): unknown {
  if (!(error instanceof ApiError) || !PROPOSABLE.includes(error.code)) return error
  const { status, code: error_code, fix, docs } = error
  const message = `${error.message} ${way}`
  const advice = { fix: fix ?? undefined, docs: docs ?? undefined }
  return new ApiError(status, { error_code, message, ...advice })
}
