/**
 * Sends one POST that is not part of a caller's call, such as a renewal or a notice: with the judged address and TLS of
 * calls, without redirects, within 10 seconds.
 */
import { chunksOf } from '../../core/async/streams.ts'
import { Fault } from '../../core/fault.ts'
import { CallDeadline } from '../deadline.ts'
import type { Outbound } from '../execute.ts'
import type { HeaderPair } from '../headers.ts'
import { Hidden } from '../hidden.ts'
import type { WireRequest } from '../outbound_request.ts'
import { parseTarget } from '../target.ts'
import type { Owner } from './session_pool.ts'

const TIMEOUT_MS = 10_000

export type PostOutbound = Pick<Outbound, 'addresses' | 'fetcher'>

export type PostRequest = {
  url: string
  headers: readonly (readonly [string, string])[]
  body: Uint8Array
}

export type PostAnswer = { status: number; headers: Headers; body: Uint8Array }

/** A request with a checked address, ready to be sent. */
export type PreparedPost = {
  /** @throws Fault `upstream_*`: the request may have arrived all the same */
  send(): Promise<PostAnswer>
}

/** @throws Fault `invalid_target`, `address_blocked`, `upstream_unreachable`, `upstream_timeout` before anything is sent */
export async function preparePost(
  { addresses, fetcher }: PostOutbound,
  owner: Owner,
  { url, headers, body }: PostRequest,
  readBody: (body: ReadableStream<Uint8Array>) => Promise<Uint8Array>,
): Promise<PreparedPost> {
  const { host, port, authority, path, search } = parseTarget(url)
  const deadline = new CallDeadline(TIMEOUT_MS)
  const address = await deadline.runDuring(async () => addresses.find(host, port, deadline.signal))
  deadline.clear()
  const pairs = headers.map(([name, value]): HeaderPair => [name, value])
  const wire = new Hidden<WireRequest>({
    address,
    host,
    port,
    authority,
    pathAndQuery: `${path}${search}`,
    method: 'POST',
    headers: [...pairs, ['accept-encoding', 'identity']],
    body: { bytes: body },
  })
  const send = async () => {
    const sending = new CallDeadline(TIMEOUT_MS)
    try {
      const { status, headers, body } = await fetcher.fetch(wire, owner, sending)
      return { status, headers, body: body === null ? new Uint8Array() : await readBody(body) }
    } catch (error) {
      if (sending.isLate) throw new Fault('upstream_timeout')
      throw error
    } finally {
      sending.abort()
    }
  }
  return { send }
}

/** @throws Fault `upstream_too_large` */
export async function readAtMost(
  body: ReadableStream<Uint8Array>,
  most: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunksOf(body.getReader())) {
    bytes += chunk.length
    if (bytes > most) throw new Fault('upstream_too_large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
