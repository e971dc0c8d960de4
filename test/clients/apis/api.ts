/** An external API from the view of its clients: its address, its authentication, and its answers. */
export type Api = {
  host: string
  /** Other hosts to which its programs send some calls. */
  otherHosts?: readonly string[]
  /** How a credential begins, by the variable that its programs read. */
  credentials: Readonly<Record<string, string>>
  /** Places other than headers in which the credentials may be. */
  locations?: readonly string[]
  /** Whether no program has the host built in. */
  isOwn?: true
  /** The path of the base URL, by the variable that its programs read, if it is set. */
  base: Readonly<Record<string, string>>
  /** The response to each of these actions; the stream is its events. */
  answers: Answers
}

export type Said = {
  status?: number
  headers?: Record<string, string>
  body: unknown
}

export type Answers = {
  call(text: string): Said
  /** One piece for each word. */
  stream?(words: readonly string[]): { type: string; pieces: string[] }
  /** `receipt` confirms that the file arrived complete. */
  upload?(receipt: string): Said
  error(message: string): Said
}

/** Server-sent events without names. */
export function eventsOf(data: readonly unknown[]): { type: string; pieces: string[] } {
  const pieces = data.map((datum) => `data: ${textOf(datum)}\n\n`)
  return { type: 'text/event-stream', pieces }
}

export function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
