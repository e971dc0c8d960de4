/**
 * One request to a token endpoint (protocol 13.3): to an allowed host, over the same judged address and TLS as calls,
 * without redirects, within 10 seconds, with an answer of at most 1 MiB.
 */
import { chunksOf } from '../../core/async/streams.ts'
import { Fault } from '../../core/fault.ts'
import type { TokenAnswer, TokenRequest } from '../../derivation/derivation.ts'
import { MAX_ANSWER_BYTES } from '../../derivation/exchange.ts'
import { CallDeadline } from '../deadline.ts'
import type { Outbound } from '../execute.ts'
import { Hidden } from '../hidden.ts'
import type { WireRequest } from '../outbound_request.ts'
import { parseTarget } from '../target.ts'
import type { Owner } from './session_pool.ts'

const TIMEOUT_MS = 10_000

export type TokenOutbound = Pick<Outbound, 'addresses' | 'fetcher'>

/** A request whose address is judged, so that nothing but sending it is left. */
export type PreparedTokenRequest = { send(): Promise<Answered> }

type Answered = TokenAnswer | 'unreachable' | 'timeout'

/**
 * `send` never throws: whatever may have reached the endpoint is an answer.
 *
 * @throws Fault `address_blocked`, `upstream_unreachable`, `upstream_timeout` before anything is sent
 */
export async function prepareTokenRequest(
  { addresses, fetcher }: TokenOutbound,
  owner: Owner,
  { url, headers, body }: TokenRequest,
): Promise<PreparedTokenRequest> {
  const { host, port, authority, path, search } = parseTarget(url)
  const deadline = new CallDeadline(TIMEOUT_MS)
  const address = await deadline.during(async () => addresses.find(host, port, deadline.signal))
  deadline.clear()
  const wire = new Hidden<WireRequest>({
    address,
    host,
    port,
    authority,
    pathAndQuery: `${path}${search}`,
    method: 'POST',
    headers: [...headers, ['accept-encoding', 'identity']],
    body: { bytes: body },
  })
  return { send: () => sendWithin(fetcher, wire, owner) }
}

async function sendWithin(
  fetcher: Outbound['fetcher'],
  wire: Hidden<WireRequest>,
  owner: Owner,
): Promise<Answered> {
  const deadline = new CallDeadline(TIMEOUT_MS)
  try {
    const { status, headers, body } = await fetcher.fetch(wire, owner, deadline)
    return { status, headers, body: await readWithin(body) }
  } catch (error) {
    return isTimeout(error) || deadline.isLate ? 'timeout' : 'unreachable'
  } finally {
    deadline.abort()
  }
}

async function readWithin(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  if (body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunksOf(body.getReader())) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new Fault('upstream_too_large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function isTimeout(error: unknown): boolean {
  return error instanceof Fault && error.code === 'upstream_timeout'
}
