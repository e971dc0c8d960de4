/** One request to a token endpoint (protocol 13.3): to an allowed host, with an answer of at most 1 MiB. */
import { Fault } from '../../core/fault.ts'
import type { TokenAnswer, TokenRequest } from '../../derivation/derivation.ts'
import { MAX_ANSWER_BYTES } from '../../derivation/exchange.ts'
import { type PostOutbound, preparePost, readAtMost } from './post_request.ts'
import type { Owner } from './session_pool.ts'

export type TokenOutbound = PostOutbound

/** A request with a checked address, ready to be sent. */
export type PreparedTokenRequest = { send(): Promise<Answered> }

type Answered = TokenAnswer | 'unreachable' | 'timeout'

/**
 * `send` never throws: once data may have reached the endpoint, every result is an answer.
 *
 * @throws Fault `address_blocked`, `upstream_unreachable`, `upstream_timeout` before anything is sent
 */
export async function prepareTokenRequest(
  outbound: TokenOutbound,
  owner: Owner,
  request: TokenRequest,
): Promise<PreparedTokenRequest> {
  const readBody = (body: ReadableStream<Uint8Array>) => readAtMost(body, MAX_ANSWER_BYTES)
  const { send } = await preparePost(outbound, owner, request, readBody)
  return { send: () => send().catch((error) => (isTimeout(error) ? 'timeout' : 'unreachable')) }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Fault && error.code === 'upstream_timeout'
}
