/**
 * What goes out: the request with every value in its place. It lives from step 8 until it is on the wire,
 * gives itself away only to `reveal`, and prints as its name.
 */
import type { Clock } from '../platform/clock.ts'
import type { Secret } from '../platform/secret.ts'
import { bytesOf, type Call, type CallBody } from './call.ts'
import { type AnswerGuard, CredentialGuard } from './guard.ts'
import type { HeaderPair } from './headers.ts'
import type { Filled } from './locations.ts'
import type { Injection } from './placeholders.ts'
import { sign } from './signing.ts'
import type { Target } from './target.ts'
import { Unprintable } from './unprintable.ts'

/** As it goes on the wire. */
export type WireRequest = {
  /** Already judged. */
  address: string
  host: string
  port: number
  authority: string
  /** Path and query, as normalised by the target parser. */
  pathAndQuery: string
  method: string
  headers: readonly HeaderPair[]
  body: CallBody
}

type Parts = {
  target: Target
  address: string
  injection: Injection
  filled: Filled
  values: ReadonlyMap<string, Secret>
}

export class OutboundRequest extends Unprintable {
  readonly #wire: WireRequest
  readonly #values: ReadonlyMap<string, Secret>
  readonly #derived: readonly Uint8Array[]

  /** @throws Fault `invalid_header`, `unusable_secret` when the request cannot be signed */
  constructor(
    { userAgent, clock }: { userAgent: string; clock: Clock },
    call: Call,
    { target, address, injection, filled, values }: Parts,
  ) {
    super()
    const { path, search } = filled
    const { method } = call
    const { host, port, authority } = target
    const body = filled.body ? { bytes: filled.body } : call.body
    const bytes = bytesOf(body) ?? new Uint8Array()
    const unsigned = { method, authority, path, search, headers: injection.headers, body: bytes }
    const signed = call.signing ? sign(call.signing, unsigned, values, clock.now()) : []
    const headers = completeHeaders([...injection.headers, ...signed], userAgent)
    const pathAndQuery = `${path}${search}`
    this.#wire = { address, host, port, authority, pathAndQuery, method, headers, body }
    this.#values = values
    this.#derived = injection.derived
  }

  /** For what puts it on the wire. */
  reveal(): WireRequest {
    return this.#wire
  }

  /** For its one answer. */
  guard(): AnswerGuard {
    const values = [...this.#values.values()].map((value) => value.reveal())
    return new CredentialGuard({ values, derived: this.#derived })
  }
}

/** An upstream that is asked not to compress cannot send a bomb. */
function completeHeaders(headers: readonly HeaderPair[], userAgent: string): HeaderPair[] {
  const kept = headers.filter(([name]) => name.toLowerCase() !== 'accept-encoding')
  const hasAgent = kept.some(([name]) => name.toLowerCase() === 'user-agent')
  return [
    ...kept,
    ...(hasAgent ? [] : [['user-agent', userAgent] satisfies HeaderPair]),
    ['accept-encoding', 'identity'],
  ]
}
