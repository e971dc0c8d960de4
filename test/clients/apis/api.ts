/** An API outside, as far as its clients can see: where it is, how it authenticates, and what its answers look like. */
export type Api = {
  host: string
  /** Other hosts to which its programs send some calls. */
  otherHosts?: readonly string[]
  /** By the variable that its programs read: how a credential begins. */
  credentials: Readonly<Record<string, string>>
  /** Places other than headers in which the credentials may be. */
  locations?: readonly string[]
  /** Whether no program has the host built in. */
  isOwn?: true
  /** By the variable that its programs read, if it is set: the path of the base URL. */
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
  /** `receipt` says that the file arrived whole. */
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
