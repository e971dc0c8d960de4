/**
 * The request to the upstream with every value in its place. It exists from step 8 until it is sent, exposes its values
 * only through `reveal`, and prints as its name.
 */

import type { Clock } from '../core/clock.ts'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../core/names/secret_name.ts'
import type { Secret } from '../core/secret.ts'
import { type Guard, type MadeBytes, MIN_USED, type NamedBytes } from '../leak_guard/index.ts'
import type { Part } from './answer/part.ts'
import { bytesOf, type Call, type CallBody } from './call.ts'
import { FollowingGuard } from './following_guard.ts'
import { type AnswerGuard, CredentialGuard, type Guarded } from './guard.ts'
import type { HeaderPair } from './headers.ts'
import { Hidden } from './hidden.ts'
import type { FilledRequest, IsPlaceable } from './injection/locations.ts'
import type { Injection } from './injection/placeholders.ts'
import type { ResignedRequest, Signature } from './signing/client_signature.ts'
import { sign } from './signing/sign.ts'
import { markOf } from './stand_ins/mark.ts'
import { partNamed } from './stand_ins/parts.ts'
import type { StepPause } from './steps.ts'
import type { Target } from './target.ts'

/** The request as sent. */
export type WireRequest = {
  /** Already checked. */
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
  filled: FilledRequest
  values: ReadonlyMap<string, Secret>
  /** The signature to make again. */
  signature: Signature | null
  /** Guards all values that the caller may use. */
  guard: Guard
  /** Names of values that are no secrets. */
  settings: ReadonlySet<string>
  part: Part | null
  /** Whether the answer is an object, or a part of one. */
  isObject: boolean
  allowsRanges: boolean
  /** Whether a placeholder counts in messages of a WebSocket. */
  isPlaceable: IsPlaceable
}

export type RequestSigner = { userAgent: string; clock: Clock }

const NO_BYTES = new Uint8Array()
const UNSIGNED: ReturnType<typeof sign> = { headers: [], signatures: [] }

export class OutboundRequest extends Hidden<WireRequest> {
  /** The part that is cut out of the answer. */
  readonly part: Part | null
  readonly isObject: boolean
  /** Whether parts of its answer may be requested. */
  readonly allowsRanges: boolean
  readonly isPlaceable: IsPlaceable
  #guarded: Guarded
  /** The guard of its answer. */
  #given: FollowingGuard | null = null
  readonly #received: ResignedRequest['received']
  /** Tokens that were taken out of its answer. */
  readonly #taken: MadeBytes[] = []

  /** @throws Fault `invalid_header`, `unusable_secret` when the request cannot be signed */
  constructor(signer: RequestSigner, call: Call, parts: Parts) {
    const { wire, signatures, received } = wireOf(signer, call, parts)
    super(wire)
    const { guard: prepared, values, settings } = parts
    this.part = parts.part
    this.isObject = parts.isObject
    this.allowsRanges = parts.allowsRanges
    this.isPlaceable = parts.isPlaceable
    const isSecret = ({ name }: NamedBytes) => !settings.has(name)
    const used: NamedBytes[] = []
    for (const [name, value] of values) {
      if (!settings.has(name)) used.push({ name, bytes: value.reveal() })
    }
    // Parts of values are not guarded separately.
    const cut = used.filter(({ name }) => partNamed(name))
    const signed = signatures.map((signature) => ({ ...signature, hasFragments: true }))
    const made = [...parts.injection.reveal().derived, ...signed, ...cut].filter(isSecret)
    this.#received = received
    this.#guarded = { prepared, used, made, standsFor: standsForIn(call) }
  }

  /** Returns the answer, without a credential that was made for this request. */
  receiveAnswer(response: Response): Response | Promise<Response> {
    return this.#received?.(response, (token) => this.#taken.push(token)) ?? response
  }

  /**
   * Returns the guard of its one answer, after that was received: a token taken out of it is guarded in its rest.
   * `later` are values that messages used after it.
   */
  guard(pause: StepPause, later: readonly NamedBytes[] = []): AnswerGuard {
    const { used, made } = this.#guarded
    const cut = later.filter(({ name }) => partNamed(name))
    const all = { used: [...used, ...later], made: [...made, ...cut, ...this.#taken] }
    const first = new CredentialGuard({ ...this.#guarded, ...all }, pause)
    const { standsFor } = this.#guarded
    this.#given = new FollowingGuard(
      first,
      (prepared) => new CredentialGuard({ prepared, used: [], made: [], standsFor }, pause),
    )
    return this.#given
  }

  /** The guard of all values that the caller may use. */
  get prepared(): Guard {
    return this.#guarded.prepared
  }

  /** Extends the search of the answer to the values that the caller may use by now. */
  follow(prepared: Guard): void {
    this.#guarded = { ...this.#guarded, prepared }
    this.#given?.follow(prepared)
  }

  /** Whether `guard` recognises a value in an answer, if the value is among `later`. */
  async knows(value: NamedBytes, pause: StepPause): Promise<boolean> {
    const { name, bytes } = value
    if (partNamed(name) || [...Buffer.from(bytes).toString().trim()].length < MIN_USED) return true
    const used = [...this.#guarded.used, value]
    const guard = new CredentialGuard({ ...this.#guarded, used, standsFor: undefined }, pause)
    return WHOLE.test(Buffer.from(await guard.redactBody(bytes)).toString())
  }
}

/** Matches a text that is a whole placeholder. */
const WHOLE = new RegExp(`^\\s*"?${PLACEHOLDER_PREFIX}${SECRET_NAME}"?\\s*$`)

function standsForIn({ mark }: Call): Guarded['standsFor'] {
  return mark ? (name, ...how) => markOf(mark, name, ...how) : undefined
}

function wireOf(
  { userAgent, clock }: RequestSigner,
  { method, signing, body: given, traceparent = null }: Call,
  { target, address, injection, filled, values, signature }: Parts,
): { wire: WireRequest } & Pick<ResignedRequest, 'signatures' | 'received'> {
  const own = traceparent === null ? [] : [['traceparent', traceparent] satisfies HeaderPair]
  const headers = without(own, injection.reveal().headers)
  const { path, search, body: filledBody } = filled.reveal()
  const { host, port, authority } = target
  const body = filledBody ? { bytes: filledBody } : given
  const unsigned = { method, authority, path, search, headers }
  const signed = signing
    ? sign(signing, { ...unsigned, body: bytesOf(body) ?? NO_BYTES }, values, clock.now())
    : UNSIGNED
  const added = [...without(own, signed.headers), ...own]
  const complete = completeHeaders(headers, added, userAgent)
  const sent: ResignedRequest = signature
    ? signature.sign({ ...unsigned, headers: complete, body }, values)
    : { headers: complete, search, body, signatures: signed.signatures }
  const pathAndQuery = `${path}${sent.search}`
  return {
    wire: {
      address,
      host,
      port,
      authority,
      pathAndQuery,
      method,
      headers: sent.headers,
      body: sent.body,
    },
    signatures: sent.signatures,
    received: sent.received,
  }
}

/** The resolver's header occurs once, also in the signed text. */
function without(own: readonly HeaderPair[], headers: readonly HeaderPair[]) {
  return own.length === 0
    ? headers
    : headers.filter(([name]) => own.every(([one]) => one !== name.toLowerCase()))
}

/** Adds the resolver's headers. An upstream that is asked not to compress cannot send a decompression bomb. */
function completeHeaders(
  callers: readonly HeaderPair[],
  signatures: readonly HeaderPair[],
  userAgent: string,
): HeaderPair[] {
  const complete: HeaderPair[] = []
  let hasAgent = false
  for (const pair of callers) {
    const key = pair[0].toLowerCase()
    hasAgent ||= key === 'user-agent'
    if (key !== 'accept-encoding') complete.push(pair)
  }
  complete.push(...signatures)
  if (!hasAgent) complete.push(['user-agent', userAgent])
  complete.push(['accept-encoding', 'identity'])
  return complete
}
