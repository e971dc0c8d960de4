/**
 * A WebSocket between caller and upstream (RFC 6455). The handshake carried the credential and was
 * decided and recorded like any call; here frames go both ways, whole message by whole message, and
 * credentials are redacted in what comes back. A credential that the upstream spreads over several
 * messages is not recognised.
 *
 * Limits: 1 MiB for a message, 4 MiB that wait for a slow reader, and the deadline as the longest
 * silence of both sides (pings count as life).
 */
import type { ServerWebSocket } from 'bun'
import { Fault } from '../../platform/fault.ts'
import { commonHeaders } from '../../platform/http/reply.ts'
import type { RequestContext } from '../../platform/http/route.ts'
import { MAX_MESSAGE_BYTES, MAX_WAITING_BYTES } from '../../platform/http/websocket.ts'
import type { Deadline } from '../deadline.ts'
import type { AnswerGuard } from '../guard.ts'
import type { Ending } from '../stream.ts'
import { splitProtocols, type UpstreamSocket } from './connect.ts'
import {
  decodeClosing,
  decodeText,
  encodeClosing,
  encodeFrame,
  FrameReader,
  isSendableCode,
  type SocketMessage,
} from './frames.ts'

type Options = {
  guard: AnswerGuard
  deadline: Deadline
  requestId: string
  connection: { request: Request; upgrade: RequestContext['upgrade'] }
  onEnd(ending: Ending): void
}

/** Close codes (RFC 6455, section 7.4.1). */
const NORMAL = 1000
const GOING_AWAY = 1001
const POLICY_VIOLATION = 1008
const TOO_BIG = 1009
const INTERNAL_ERROR = 1011
/** Milliseconds that the upstream gets to answer a close frame. */
const LINGER_MS = 5_000
const UTF8 = new TextEncoder()

/** @throws Fault `invalid_header` when the caller's request is no handshake */
export function relay(upstream: UpstreamSocket, options: Options): void {
  const { requestId, connection } = options
  // By the names that the caller gave them: the upstream read others.
  const offered = splitProtocols(connection.request.headers.get('sec-websocket-protocol'))
  const chosen = upstream.protocol === null ? undefined : offered[upstream.protocol]
  const line = new Relay(upstream, options)
  const upgraded = connection.upgrade(line.handlers, {
    ...commonHeaders(requestId),
    'x-service-request-id': requestId,
    ...(chosen === undefined ? {} : { 'sec-websocket-protocol': chosen }),
  })
  if (upgraded) return
  upstream.wire.destroy()
  throw new Fault('invalid_header', { message: 'The request is no WebSocket handshake.' })
}

class Relay {
  readonly #upstream: UpstreamSocket
  readonly #options: Options
  readonly #reader = new FrameReader(MAX_MESSAGE_BYTES)
  /** Messages are guarded one after the other. */
  #reading: Promise<void> = Promise.resolve()
  /** Bytes that arrived and are not guarded yet. */
  #unread = 0
  #isCallerFull = false
  #caller: ServerWebSocket<unknown> | null = null
  #ended = false

  constructor(upstream: UpstreamSocket, options: Options) {
    this.#upstream = upstream
    this.#options = options
  }

  readonly handlers: Parameters<RequestContext['upgrade']>[0] = {
    open: (caller) => this.#open(caller),
    message: (_, message) => {
      const isText = typeof message === 'string'
      this.#send(isText ? 'text' : 'binary', isText ? UTF8.encode(message) : message)
    },
    // The payload does not come through to here; the caller has had its pong already.
    ping: () => this.#send('ping', new Uint8Array()),
    drain: () => {
      this.#isCallerFull = false
      this.#resume()
    },
    close: (_, code, reason) => {
      this.#end(null)
      this.#hangUp(isSendableCode(code) ? code : code === 1005 ? null : GOING_AWAY, reason)
    },
  }

  #open(caller: ServerWebSocket<unknown>): void {
    const { wire, rest } = this.#upstream
    const { deadline } = this.#options
    const { signal } = deadline
    this.#caller = caller
    // A caller that has left is handled by `close`, which knows its code.
    const late = () => {
      if (!deadline.isUnwanted) this.#fail(deadline.refusal ?? new Fault('upstream_timeout'))
    }
    signal.addEventListener('abort', late, { once: true })
    wire.on('data', (chunk: Uint8Array) => this.#receive(chunk))
    wire.once('close', () => this.#afterReading(() => this.#fail(broken())))
    if (signal.aborted) late()
    if (wire.destroyed) this.#fail(broken())
    this.#receive(rest)
    wire.resume()
  }

  /** To the upstream; one that does not take what the caller sends is given up. */
  #send(type: 'text' | 'binary' | 'ping' | 'pong', payload: Uint8Array): void {
    if (this.#ended) return
    const { wire } = this.#upstream
    this.#options.deadline.putOff()
    wire.write(encodeFrame(type, payload))
    if (wire.writableLength > MAX_WAITING_BYTES) this.#fail(new Fault('upstream_timeout'))
  }

  /** An upstream that sends faster than its messages are guarded has to wait. */
  #receive(chunk: Uint8Array): void {
    if (this.#ended) return
    this.#unread += chunk.length
    if (this.#unread > MAX_MESSAGE_BYTES) this.#upstream.wire.pause()
    this.#afterReading(() => this.#read(chunk))
  }

  #afterReading(act: () => Promise<void> | void): void {
    this.#reading = this.#reading.then(act).catch((error) => {
      this.#fail(error instanceof Fault ? error : new Fault('internal_error', { cause: error }))
    })
  }

  async #read(chunk: Uint8Array): Promise<void> {
    if (this.#ended) return
    for (const message of this.#reader.push(chunk)) await this.#deliver(message)
    this.#unread -= chunk.length
    this.#resume()
  }

  #resume(): void {
    const isFull = this.#isCallerFull || this.#unread > MAX_MESSAGE_BYTES
    if (!isFull && !this.#ended) this.#upstream.wire.resume()
  }

  async #deliver({ type, payload }: SocketMessage): Promise<void> {
    if (this.#ended) return
    this.#options.deadline.putOff()
    if (type === 'close') await this.#close(payload)
    else if (type === 'ping') this.#send('pong', payload)
    else if (type !== 'pong') await this.#pass(type, payload)
  }

  /** To the caller; while it does not take it, the upstream has to wait. */
  async #pass(type: 'text' | 'binary', payload: Uint8Array): Promise<void> {
    if (type === 'text') decodeText(payload)
    const redacted = await this.#options.guard.redactBody(payload)
    if (this.#ended) return
    const sent =
      type === 'text'
        ? this.#caller?.sendText(Buffer.from(redacted).toString())
        : this.#caller?.sendBinary(redacted)
    this.#isCallerFull = sent === -1
    if (this.#isCallerFull) this.#upstream.wire.pause()
  }

  async #close(payload: Uint8Array): Promise<void> {
    const { code, reason } = decodeClosing(payload)
    const redacted = await this.#options.guard.redactBody(UTF8.encode(reason))
    const shown = Buffer.from(redacted).toString()
    if (this.#ended) return
    this.#end(null)
    this.#caller?.close(code ?? NORMAL, Buffer.byteLength(shown) > 123 ? '' : shown)
    this.#hangUp(code, '')
  }

  #fail(fault: Fault): void {
    if (this.#ended) return
    this.#end(fault)
    // The upstream first: closing the caller's side calls `close`, which would pass its code on.
    this.#hangUp(GOING_AWAY, '')
    this.#caller?.close(closingCodeOf(fault), fault.code)
  }

  #end(fault: Fault | null): void {
    if (this.#ended) return
    this.#ended = true
    this.#options.deadline.clear()
    this.#options.onEnd({ fault, redacted: this.#options.guard.redacted })
  }

  /** Says goodbye to the upstream, once, and does not wait long for its answer. */
  #hangUp(code: number | null, reason: string): void {
    const { wire } = this.#upstream
    if (wire.writableEnded || wire.destroyed) return
    wire.end(encodeFrame('close', encodeClosing(code, reason)))
    const patience = setTimeout(() => wire.destroy(), LINGER_MS)
    wire.once('close', () => clearTimeout(patience))
    wire.resume()
  }
}

/** What the upstream did is an error of ours towards the caller; a refusal is the workspace's word. */
function closingCodeOf({ code, status }: Fault): number {
  if (code === 'upstream_too_large') return TOO_BIG
  return status < 500 ? POLICY_VIOLATION : INTERNAL_ERROR
}

function broken(): Fault {
  return new Fault('upstream_protocol_error')
}
