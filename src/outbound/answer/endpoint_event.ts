/**
 * Rewrites the reference in MCP's older transport (HTTP with SSE, protocol revision 2024-11-05): a stream's first event
 * is `endpoint`, and its data, not JSON, is the reference for the client's POST, which has to lead back.
 */

/** Characters of an event that is still expected to be complete. */
const MAX_EVENT = 16_384
const NAME = /^event: ?endpoint$/m
/** Comments and empty lines before the first event. */
const BEFORE = /^(?:\u00ef\u00bb\u00bf)?(?:(?::[^\r\n]*)?(?:\r\n|\n|\r(?!$)))*/
const EVENT = /^(?:[^\r\n]+(?:\r\n|\n|\r(?!\n)))+(?=[\r\n])/
/** Paths from the origin on, and https URLs. Relative references resolve to the right place as they are. */
const DATA = /^(data: ?)((?:\/|https:\/\/)[!-~]*)$/m

export class EndpointEvent {
  readonly #lead: (reference: string) => string | null
  /** The beginning of the stream as long as it may be that event; null afterwards. */
  #held: string | null = ''

  /** @param lead returns the rewritten reference; null keeps it */
  constructor(lead: (reference: string) => string | null) {
    this.#lead = lead
  }

  /** Text has one character per byte. */
  push(text: string): string {
    if (this.#held === null) return text
    const all = this.#held + text
    const before = BEFORE.exec(all)?.[0] ?? ''
    const rest = all.slice(before.length)
    const event = EVENT.exec(rest)?.[0]
    if (event !== undefined) {
      this.#held = null
      return `${before}${this.#rewrite(event)}${rest.slice(event.length)}`
    }
    const mayCome = rest.length <= MAX_EVENT && beginsAsEndpoint(rest)
    this.#held = mayCome ? rest : null
    return mayCome ? before : all
  }

  /** Returns the held text of a stream that has ended. */
  flush(): string {
    const held = this.#held ?? ''
    this.#held = null
    return held
  }

  #rewrite(event: string): string {
    if (!NAME.test(event)) return event
    return event.replace(DATA, (all, field: string, reference: string) => {
      const link = this.#lead(reference)
      return link === null ? all : `${field}${link}`
    })
  }
}

/** Whether a text begins with the event. A comment, or a line end in two pieces, may precede it. */
function beginsAsEndpoint(text: string): boolean {
  if (text.startsWith(':') || text === '\r') return true
  return ['event: endpoint', 'event:endpoint'].some(
    (line) => line.startsWith(text) || text.startsWith(line),
  )
}
