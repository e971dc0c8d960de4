/**
 * Counts a call's model tokens, as its answer reports them: OpenAI (`usage` of chat completions and of responses),
 * Anthropic (`usage` of a message and its events) and Gemini (`usageMetadata`). Recognised by shape, since models are
 * also reached through proxies. Only greater numbers count, so later data cannot lower the sum.
 */
import type { GuardedBodyKind } from '../guard.ts'
import { SseData } from './sse_data.ts'
import { UsageScanner } from './usage_scanner.ts'

/** More than any call uses. A hostile response must not overflow the sums. */
const MAX_TOKENS = 1e12

/** Fields that add up. Some proxies report the same usage in the format of two vendors, so the greatest sum counts. */
const SUMS = [
  ['total_tokens'],
  ['totalTokenCount'],
  ['prompt_tokens', 'completion_tokens'],
  ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'],
  ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'toolUsePromptTokenCount'],
]
const COUNTED = new Set(SUMS.flat())

/** An answer's body, in pieces. */
type BodyReader = { push(bytes: Uint8Array): void }

export class ModelUsage {
  /** The greatest number of each field. */
  #fields = new Map<string, number>()
  /** The usage of earlier messages, on a WebSocket. */
  #before = 0

  /** 0 if no usage was found. */
  get tokens(): number {
    return Math.min(MAX_TOKENS, this.#before + sumOf(this.#fields))
  }

  open(kind?: GuardedBodyKind): BodyReader {
    const scanner = new UsageScanner((usage) => this.#add(usage))
    if (!kind || 'keepsLength' in kind || kind.frames !== 'events') return scanner
    return new SseData({
      data: (bytes) => scanner.push(bytes),
      end: () => scanner.reset(),
    })
  }

  /** Reads one of many messages, each with its usage. */
  readMessage(message: Uint8Array): void {
    this.open().push(message)
    this.#before = this.tokens
    this.#fields.clear()
  }

  #add(usage: unknown): void {
    if (typeof usage !== 'object' || usage === null) return
    for (const [name, value] of Object.entries(usage)) {
      if (!COUNTED.has(name) || typeof value !== 'number' || !(value > 0)) continue
      const amount = Math.min(MAX_TOKENS, Math.ceil(value))
      this.#fields.set(name, Math.max(amount, this.#fields.get(name) ?? 0))
    }
  }
}

function sumOf(fields: ReadonlyMap<string, number>): number {
  const sums = SUMS.map((names) => names.reduce((sum, name) => sum + (fields.get(name) ?? 0), 0))
  return Math.max(...sums)
}
