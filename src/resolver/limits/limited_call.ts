/** One call of a token with limits: counts sent and received bytes, and the answer's model tokens. */
import type { Fault } from '../../core/fault.ts'
import { bytesOf, type Call, type CallBody, contentTypeOf } from '../../outbound/call.ts'
import type { CallDeadline } from '../../outbound/deadline.ts'
import type { GuardedBodyKind } from '../../outbound/guard.ts'
import type { Conclusion } from '../../outbound/record.ts'
import { ModelUsage } from '../../outbound/traffic/model_usage.ts'
import type { AnswerTraffic, Traffic } from '../../outbound/traffic/traffic.ts'
import type { CallLimits, CountedCall, LimitedToken } from './call_limits.ts'

/** Bytes per model token in the estimate for an answer that does not report its usage. */
const BYTES_PER_TOKEN = 4
/** Reasons of failures before an upstream received the request. */
const UNSENT = new Set(['upstream_unreachable', 'upstream_tls_error'])

type Parts = {
  limits: CallLimits
  token: LimitedToken
  call: Call
  deadline: Pick<CallDeadline, 'refuse'>
}

export class LimitedCall implements Traffic {
  readonly #parts: Parts
  readonly #usage: ModelUsage | null
  #beginning: Promise<void> | null = null
  #running: CountedCall | null = null
  /** Bytes in both directions. */
  #sent = 0
  #received = 0
  #counted = 0
  /** Streams report usage at their end, if at all. */
  #isStream: boolean
  #isWhole = true
  #isSettled = false
  #settling: Promise<void> | null = null

  constructor(parts: Parts) {
    this.#parts = parts
    this.#usage = parts.token.limits.model_tokens_per_day === null ? null : new ModelUsage()
    this.#isStream = parts.call.answer === 'socket' || parts.call.answer === 'grpc'
  }

  get hasBegun(): boolean {
    return this.#running !== null
  }

  /** Counts the call, once. @throws Fault `budget_exceeded`, `unavailable` */
  begin(): Promise<void> {
    this.#beginning ??= this.#begin()
    return this.#beginning
  }

  async #begin(): Promise<void> {
    const { limits, token, call, deadline } = this.#parts
    const bytes = readKnownLength(call.body)
    const running = await limits.begin(token, {
      bytes,
      onOver: (fault: Fault) => deadline.refuse(fault),
    })
    // The first pieces of a body may pass before the call counts.
    if (this.#sent > 0) running.addBytes(this.#sent)
    this.#sent += bytes
    if (this.#isSettled) await running.end()
    else this.#running = running
  }

  /** The body, whose bytes count as they pass unless their number is known. */
  meterBody(body: CallBody): CallBody {
    if (body === null || 'bytes' in body || body.length !== null) return body
    const transform = (chunk: Uint8Array, controller: TransformStreamDefaultController) => {
      this.recordSent(chunk.length)
      controller.enqueue(chunk)
    }
    return { ...body, stream: body.stream.pipeThrough(new TransformStream({ transform })) }
  }

  recordSent(bytes: number): void {
    this.#sent += bytes
    this.#running?.addBytes(bytes)
  }

  recordReceived(bytes: number): void {
    this.#received += bytes
    this.#running?.addBytes(bytes)
  }

  recordMessage(message: Uint8Array): void {
    this.recordReceived(message.length)
    this.#usage?.readMessage(message)
    this.#countTokens(this.#usage?.tokens ?? 0)
  }

  openAnswer(kind: GuardedBodyKind | undefined): AnswerTraffic {
    const reader = this.#usage?.open(kind)
    const frames = kind && 'frames' in kind ? kind.frames : undefined
    this.#isStream ||= frames === 'events' || frames === 'lines'
    this.#isWhole = false
    return {
      push: (bytes) => {
        this.recordReceived(bytes.length)
        reader?.push(bytes)
      },
      end: () => {
        this.#isWhole = true
      },
    }
  }

  /** Counts the model tokens and releases the slot, once. `conclusion` is null for a call that was not sent. */
  settle(conclusion: Pick<Conclusion, 'decision' | 'reason'> | null): void {
    if (this.#isSettled) return
    this.#isSettled = true
    if (!this.#running) return
    if (this.#usage && conclusion && !UNSENT.has(conclusion.reason ?? ''))
      this.#countTokens(this.#modelTokens(this.#usage.tokens, conclusion.decision === 'allowed'))
    this.#settling = this.#running.end()
  }

  /** Resolves when an ended call's usage is stored. Does not wait for an open stream. */
  async waitUntilSettled(): Promise<void> {
    await this.#settling
  }

  /** Returns an estimate if a response should have reported its usage and did not, for example when cut off. */
  #modelTokens(reported: number, isAllowed: boolean): number {
    const { call } = this.#parts
    const isComplete = isAllowed && this.#isWhole
    if (reported > 0 && (isComplete || call.answer === 'socket')) return reported
    const mayBeOfModel = this.#isStream || (isJson(call) && (!isComplete || isToModel(call)))
    if (!mayBeOfModel) return reported
    return Math.max(reported, Math.ceil((this.#sent + this.#received) / BYTES_PER_TOKEN))
  }

  #countTokens(tokens: number): void {
    const added = tokens - this.#counted
    if (added <= 0) return
    this.#counted = tokens
    this.#running?.addModelTokens(added)
  }
}

function readKnownLength(body: CallBody): number {
  if (body === null) return 0
  return 'bytes' in body ? (bytesOf(body)?.length ?? 0) : (body.length ?? 0)
}

/** Paths of model APIs. A caller may make them omit the usage, as with Gemini's `fields`. */
const MODEL_PATH = /(generatecontent|completions|\/v1\/messages|\/responses)\b/i

function isToModel({ targetUrl }: Call): boolean {
  return MODEL_PATH.test(targetUrl.split('?', 1)[0] ?? '')
}

function isJson({ headers }: Call): boolean {
  return /\bjson\b/i.test(contentTypeOf(headers) ?? '')
}
