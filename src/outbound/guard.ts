/**
 * What stands between an upstream's answer and its caller: one guard for each answer, which knows the
 * credentials that the request was made with. The only place that knows how the leak guard works.
 */
import { Redactor, Sanitiser } from '../leak_guard/sanitise.ts'
import { Unprintable } from './hidden.ts'

/** Bytes that arrive in chunks; any division into chunks gives the same output. */
export type StreamGuard = {
  /** What is certain to be free of credentials by now. */
  push(chunk: Uint8Array): Uint8Array
  /** The rest, after the last chunk. */
  flush(): Uint8Array
}

export interface AnswerGuard {
  /** Whether anything was replaced so far. */
  readonly redacted: boolean
  /** A whole body, or one message of a WebSocket. */
  redactBody(body: Uint8Array): Uint8Array
  redactHeaderValue(value: string): string
  /** For the one body that arrives in chunks. */
  openStream(): StreamGuard
}

type Guarded = {
  values: readonly Uint8Array[]
  /** What was made of values, such as the text of Basic credentials. */
  derived: readonly Uint8Array[]
}

export class CredentialGuard extends Unprintable implements AnswerGuard {
  readonly #guarded: Guarded
  readonly #sanitiser: Sanitiser
  #redactor: Redactor | null = null

  constructor(guarded: Guarded) {
    super()
    this.#guarded = guarded
    this.#sanitiser = new Sanitiser(guarded.values, guarded.derived)
  }

  get redacted(): boolean {
    return this.#sanitiser.redacted || (this.#redactor?.redacted ?? false)
  }

  redactBody(body: Uint8Array): Uint8Array {
    return this.#sanitiser.redactBody(body)
  }

  redactHeaderValue(value: string): string {
    return this.#sanitiser.redactHeaderValue(value)
  }

  openStream(): StreamGuard {
    this.#redactor = new Redactor(this.#guarded.values, this.#guarded.derived)
    return this.#redactor
  }
}
