/** Server-sent events the way a client reads them, one at a time. */
import { withTimeout } from '../../src/core/async/timeout.ts'

export type ServerEvent = { id: string | null; event: string; data: unknown }

/** Generous: the awaited event arrives, or the test fails. */
const TIMEOUT_MS = 30_000

export class EventReader {
  readonly response: Response
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #text = ''

  constructor(response: Response) {
    if (!response.body) throw new Error('there is no body')
    this.response = response
    this.#reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>
  }

  /** The next event, without comments; null at the end. */
  async next(): Promise<ServerEvent | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const lines = this.#text.slice(0, end).split('\n')
        this.#text = this.#text.slice(end + 2)
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
        const data = field('data')
        if (data === undefined) continue
        return {
          id: field('id') ?? null,
          event: field('event') ?? 'message',
          data: JSON.parse(data),
        }
      }
      const { done, value } = await this.#reader.read()
      if (done) return null
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }

  /** The next expected event. */
  find(isMeant: (event: ServerEvent) => boolean): Promise<ServerEvent> {
    const found = async () => {
      for (;;) {
        const event = await this.next()
        if (event === null) throw new Error('the stream ended')
        if (isMeant(event)) return event
      }
    }
    return withTimeout(TIMEOUT_MS, found(), () => new Error('the event did not come'))
  }

  async close(): Promise<void> {
    await this.#reader.cancel()
  }
}
