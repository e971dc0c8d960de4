/**
 * What goes out: the request with every value in its place. It lives from step 8 until it is on the wire,
 * gives itself away only to `reveal`, and prints as its name.
 */
import type { Clock } from '../platform/clock.ts'
import type { Secret } from '../platform/secret.ts'
import { bytesOf, type Call, type CallBody } from './call.ts'
import { type AnswerGuard, CredentialGuard } from './guard.ts'
import type { HeaderPair } from './headers.ts'
import { Hidden } from './hidden.ts'
import type { Filled } from './locations.ts'
import type { Injection } from './placeholders.ts'
import { sign } from './signing/sign.ts'
import type { Target } from './target.ts'

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

type Signer = { userAgent: string; clock: Clock }

export class OutboundRequest extends Hidden<WireRequest> {
  readonly #values: ReadonlyMap<string, Secret>
  readonly #derived: readonly Uint8Array[]

  /** @throws Fault `invalid_header`, `unusable_secret` when the request cannot be signed */
  constructor(signer: Signer, call: Call, parts: Parts) {
    super(wireOf(signer, call, parts))
    this.#values = parts.values
    this.#derived = parts.injection.reveal().derived
  }

  /** For its one answer. */
  guard(): AnswerGuard {
    const values = [...this.#values.values()].map((value) => value.reveal())
    return new CredentialGuard({ values, derived: this.#derived })
  }
}

function wireOf(
  { userAgent, clock }: Signer,
  { method, signing, body: given }: Call,
  { target, address, injection, filled, values }: Parts,
): WireRequest {
  const { headers } = injection.reveal()
  const { path, search, body: filledBody } = filled.reveal()
  const { host, port, authority } = target
  const body = filledBody ? { bytes: filledBody } : given
  const bytes = bytesOf(body) ?? new Uint8Array()
  const unsigned = { method, authority, path, search, headers, body: bytes }
  const signed = signing ? sign(signing, unsigned, values, clock.now()) : []
  return {
    address,
    host,
    port,
    authority,
    pathAndQuery: `${path}${search}`,
    method,
    headers: completeHeaders([...headers, ...signed], userAgent),
    body,
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
