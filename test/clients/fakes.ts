/**
 * The external APIs, all at one address with TLS. The running cell sets their answers, so that no program has to
 * request an error.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Authority } from '../../src/cli/demo/certificates.ts'
import { noteArrival } from '../support/canary.ts'
import { type Api, type Said, textOf } from './apis/api.ts'
import { hosts, hostsOf } from './apis/index.ts'
import type { Action } from './client.ts'

export const ADDRESS = '127.0.0.43'
/** The text of a good answer. */
export const TEXT = 'hello-from-upstream'
export const WORDS = ['first-word', 'second-word', 'third-word'] as const
/** The text of an error, before the credential that it repeats. */
export const ERROR = 'there is no such thing'
/** A file with every byte, and not a multiple of a buffer in length. */
export const FILE = randomBytes(300_001)
export const RECEIPT = `receipt-${createHash('sha256').update(FILE).digest('hex').slice(0, 24)}`

export type Fakes = {
  port: number
  /** Sets the running cell; requests that arrive are kept from here on. */
  expect(api: Api, action: Action, credential: string): void
  /** Invalid requests since then; empty if there were none. */
  complaints(): string[]
  /** The client has printed the first word of a stream, so the others follow. */
  goOn(): void
  stop(): Promise<void>
}

export async function startFakes(authority: Authority, port: number): Promise<Fakes> {
  let turn: Turn | null = null
  const server = Bun.serve({
    hostname: ADDRESS,
    port,
    idleTimeout: 0,
    tls: await authority.issue(hosts),
    fetch: (request) => turn?.answer(request) ?? new Response(null, { status: 503 }),
  })
  return {
    port: server.port ?? 0,
    expect: (...parts) => {
      turn = new Turn(...parts)
    },
    complaints: () => turn?.complaints ?? [],
    goOn: () => turn?.shown.resolve(),
    stop: () => server.stop(true),
  }
}

class Turn {
  readonly api: Api
  readonly action: Action
  readonly credential: string
  readonly shown = Promise.withResolvers<void>()
  readonly #found: string[] = []
  #requests = 0
  #accepted = 0
  #isWhole = false

  constructor(api: Api, action: Action, credential: string) {
    this.api = api
    this.action = action
    this.credential = credential
  }

  get complaints(): string[] {
    if (this.action === 'refusal')
      return this.#requests === 0 ? [] : ['the refused call arrived upstream']
    if (this.#requests === 0) return ['nothing arrived upstream']
    if (this.#accepted === 0) return ['nothing arrived with the credential', ...this.#found]
    if (this.action === 'upload' && !this.#isWhole) return ['no file arrived whole', ...this.#found]
    return this.#found
  }

  async answer(request: Request): Promise<Response> {
    const body = Buffer.from(await request.arrayBuffer())
    const head = headOf(request, body)
    this.#requests += 1
    noteArrival(Buffer.from(head))
    const { host } = new URL(request.url)
    if (!hostsOf(this.api).includes(host.replace(/:\d+$/, '')))
      this.#found.push(`arrived as ${host}`)
    if (!head.includes(this.credential)) {
      const { body: said } = this.api.answers.error('bad credentials')
      return responseOf({ headers: { 'www-authenticate': 'Basic realm="fake"' }, body: said }, 401)
    }
    this.#accepted += 1
    return request.method === 'HEAD' && this.action !== 'error'
      ? this.#describe()
      : this.#respond(body)
  }

  /** The answer to HEAD for an object: clients of S3 ask for its length first. */
  #describe(): Response {
    const { stream, call } = this.api.answers
    if (this.action === 'upload' && !this.#isWhole) return new Response(null, { status: 404 })
    const whole = this.action === 'stream' ? stream?.(WORDS).pieces.join('') : call(TEXT).body
    const length = String(this.action === 'upload' ? FILE.length : textOf(whole).length)
    const headers = { 'content-length': length, 'last-modified': new Date(0).toUTCString() }
    return new Response(null, { headers })
  }

  #respond(body: Buffer): Response {
    const { answers } = this.api
    if (this.action === 'stream' && answers.stream) return this.#stream(answers.stream(WORDS))
    if (this.action === 'error') return responseOf(answers.error(`${ERROR} for ${this.credential}`))
    if (this.action !== 'upload' || !answers.upload) return responseOf(answers.call(TEXT))
    this.#isWhole ||= holdsFile(body)
    return responseOf(this.#isWhole ? answers.upload(RECEIPT) : answers.error('not whole'))
  }

  #stream({ type, pieces: [first = '', ...others] }: { type: string; pieces: string[] }): Response {
    const { promise: shown } = this.shown
    const body = new ReadableStream<Uint8Array>({
      start: async (controller) => {
        controller.enqueue(Buffer.from(first))
        await shown
        for (const piece of others) controller.enqueue(Buffer.from(piece))
        controller.close()
      },
    })
    return new Response(body, { headers: { 'content-type': type } })
  }
}

/** All places that may contain a credential, with Basic decoded. */
function headOf({ url, headers }: Request, body: Buffer): string {
  const isForm = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
  const lines = [...headers].map(([name, value]) => {
    const [, basic] = /^Basic (.*)$/i.exec(value) ?? []
    return `${name}: ${basic === undefined ? value : atob(basic)}`
  })
  return [decodeURIComponent(url), ...lines, isForm ? body.toString() : ''].join('\n')
}

/** The body plain, in JSON, or in the chunks that S3 signs. */
function holdsFile(body: Buffer): boolean {
  const forms = [body, Buffer.from(unchunked(body))]
  return forms.some((form) => form.includes(FILE)) || body.includes(FILE.toString('base64'))
}

function unchunked(body: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.toString('latin1', at, end), 16)
    if (end < 0 || !(size > 0)) break
    pieces.push(body.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
  return Buffer.concat(pieces)
}

function responseOf({ status = 200, headers = {}, body }: Said, instead?: number): Response {
  return new Response(textOf(body), {
    status: instead ?? status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}
