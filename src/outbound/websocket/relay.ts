/**
 * A WebSocket between caller and upstream (RFC 6455). The handshake carried the credential and was decided and recorded
 * like any call. Frames pass in both directions, one whole message at a time, and credentials are redacted in the
 * upstream's messages. A credential that the upstream spreads over several messages is not recognised.
 *
 * Every frame, also pings and empty ones, counts against its workspace's portion of a turn. While one side does not
 * accept its messages, neither side is read. Limits: 1 MiB for a message, and the deadline as the longest silence of
 * both sides (pings count as life).
 */
import type { ServerWebSocket } from 'bun'
import { type BodyAccount, BodyMeter } from '../../core/body_memory.ts'
import { Fault } from '../../core/fault.ts'
import { buildCommonHeaders } from '../../http/reply.ts'
import type { RequestContext } from '../../http/route.ts'
import { MAX_MESSAGE_BYTES } from '../../http/websocket.ts'
import type { Ending } from '../answer/stream.ts'
import type { CallDeadline } from '../deadline.ts'
import type { Traffic } from '../traffic/traffic.ts'
import { splitProtocols, type UpstreamSocket } from './connect.ts'
import {
  decodeClosing,
  decodeText,
  encodeClosing,
  FrameReader,
  isSendableCode,
  type ReadFrame,
  type SocketMessage,
} from './frames.ts'
import { ReaderGate } from './gate.ts'
import type { MessageFiller } from './message.ts'
import { FrameSender } from './sender.ts'

type Options = {
  messages: MessageFiller
  deadline: CallDeadline
  /** Resolves when a frame of this size may be handled; `null` if it may be handled now. */
  turn(bytes: number): Promise<void> | null
  requestId: string
  /** Counts the bytes of held messages. */
  bodies: BodyAccount
  connection: { request: Request; upgrade: RequestContext['upgrade'] }
  /** Counts messages, if the caller has limits. */
  traffic?: Traffic | undefined
  onEnd(ending: Ending): void
}

/** Close codes (RFC 6455, section 7.4.1). */
const NORMAL = 1000
const GOING_AWAY = 1001
const POLICY_VIOLATION = 1008
const TOO_BIG = 1009
const INTERNAL_ERROR = 1011
/** Unhandled bytes from the upstream, at which it is no longer read. */
const MAX_UNREAD_BYTES = 262_144
/** Milliseconds that the upstream gets to accept waiting data, and to answer a close frame. */
const LINGER_MS = 5_000
const UTF8 = new TextEncoder()

/** @throws Fault `invalid_header` when the caller's request is no handshake */
export function relay(upstream: UpstreamSocket, options: Options): void {
  const { requestId, connection } = options
  // Uses the caller's protocol names: the upstream received others.
  const offered = splitProtocols(connection.request.headers.get('sec-websocket-protocol'))
  const chosen = upstream.protocol === null ? undefined : offered[upstream.protocol]
  const line = new Relay(upstream, options)
  const upgraded = connection.upgrade(line.handlers, {
    ...buildCommonHeaders(requestId),
    'x-service-request-id': requestId,
    ...(chosen === undefined ? {} : { 'sec-websocket-protocol': chosen }),
  })
  if (upgraded) return
  upstream.wire.destroy()
  throw new Fault('invalid_header', { message: 'The request is not a WebSocket handshake.' })
}

class Relay {
  readonly #upstream: UpstreamSocket
  readonly #options: Options
  readonly #reader = new FrameReader(MAX_MESSAGE_BYTES)
  readonly #sender: FrameSender
  /** Closed while the caller does not accept data. */
  readonly #callerRoom = new ReaderGate()
  readonly #held: BodyMeter
  #isReading = false
  #caller: ServerWebSocket<unknown> | null = null
  #ended = false

  constructor(upstream: UpstreamSocket, options: Options) {
    this.#upstream = upstream
    this.#options = options
    this.#held = new BodyMeter(options.bodies)
    this.#sender = new FrameSender(upstream.wire, {
      turn: options.turn,
      onHeld: (isHeld) => {
        if (isHeld) this.#caller?.pause()
        else this.#caller?.resume()
      },
      fill: (payload) => options.messages.fill(payload),
      onRefused: (error) => this.#fail(toFault(error)),
      onSent: () => options.deadline.putOff(),
    })
  }

  readonly handlers: Parameters<RequestContext['upgrade']>[0] = {
    open: (caller) => this.#open(caller),
    message: (_, message) => {
      const isText = typeof message === 'string'
      this.#send(isText ? 'text' : 'binary', isText ? UTF8.encode(message) : message)
    },
    // The payload is not available here, and the caller already has its pong.
    ping: () => this.#send('ping', new Uint8Array()),
    // A pong is not passed on, but its weight counts.
    pong: () => this.#sender.countOnly(),
    drain: () => this.#callerRoom.open(),
    close: (_, code, reason) => {
      if (this.#ended) return
      this.#end(null)
      const closing = isSendableCode(code) ? code : code === 1005 ? null : GOING_AWAY
      // Queued after the caller's earlier messages.
      this.#sender.push('close', encodeClosing(closing, reason))
    },
  }

  #open(caller: ServerWebSocket<unknown>): void {
    const { wire, rest } = this.#upstream
    const { deadline } = this.#options
    const { signal } = deadline
    this.#caller = caller
    // The handler of `close` handles a caller that disconnected, with its code.
    const closeLate = () => {
      if (!deadline.isUnwanted) this.#fail(deadline.refusal ?? new Fault('upstream_timeout'))
    }
    signal.addEventListener('abort', closeLate, { once: true })
    wire.on('data', (chunk: Uint8Array) => this.#receive(chunk))
    wire.once('close', () => this.#readAll())
    if (signal.aborted) closeLate()
    this.#receive(rest)
    wire.resume()
  }

  #send(type: 'text' | 'binary' | 'ping', payload: Uint8Array): void {
    if (this.#ended) return
    this.#options.traffic?.recordSent(payload.length)
    this.#sender.push(type, payload)
  }

  /** Pauses an upstream that sends faster than its frames are handled. */
  #receive(chunk: Uint8Array): void {
    if (this.#ended) return
    this.#reader.append(chunk)
    if (this.#reader.size > MAX_UNREAD_BYTES) this.#upstream.wire.pause()
    void this.#readAll()
  }

  async #readAll(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      for (let read = this.#readNext(); read; read = this.#readNext()) {
        await this.#options.turn(read.length)
        if (read.message && !this.#ended) await this.#deliver(read.message)
        await this.#callerRoom.opened
      }
      if (this.#upstream.wire.destroyed) this.#fail(buildBrokenFault())
    } catch (error) {
      this.#fail(toFault(error))
    }
    this.#isReading = false
    this.#upstream.wire.resume()
  }

  #readNext(): ReadFrame | null {
    if (this.#ended) return null
    this.#held.hold(this.#reader.held)
    return this.#reader.readNext()
  }

  async #deliver({ type, payload }: SocketMessage): Promise<void> {
    this.#options.deadline.putOff()
    if (type === 'close') await this.#close(payload)
    else if (type === 'ping') await this.#sender.sendNow('pong', payload)
    else if (type !== 'pong') await this.#pass(type, payload)
  }

  /** Passes a message to the caller. The upstream waits while the caller does not accept it. */
  async #pass(type: 'text' | 'binary', payload: Uint8Array): Promise<void> {
    if (type === 'text') decodeText(payload)
    const redacted = await this.#options.messages.redact(payload)
    if (this.#ended) return
    this.#options.traffic?.recordMessage(redacted)
    const sent =
      type === 'text'
        ? this.#caller?.sendText(Buffer.from(redacted).toString())
        : this.#caller?.sendBinary(redacted)
    if (sent === -1) this.#callerRoom.shut()
  }

  async #close(payload: Uint8Array): Promise<void> {
    const { code, reason } = decodeClosing(payload)
    const redacted = await this.#options.messages.redact(UTF8.encode(reason))
    const shown = Buffer.from(redacted).toString()
    if (this.#ended) return
    this.#end(null)
    void this.#sender.sendNow('close', encodeClosing(code))
    this.#caller?.close(code ?? NORMAL, Buffer.byteLength(shown) > 123 ? '' : shown)
  }

  #fail(fault: Fault): void {
    if (this.#ended) return
    this.#end(fault)
    // The upstream first: closing the caller's side calls `close`, which would pass its code on.
    void this.#sender.sendNow('close', encodeClosing(GOING_AWAY))
    this.#caller?.close(closingCodeOf(fault), fault.code)
  }

  /** Ends the connection. Further bytes of the upstream are dropped, for a short time. */
  #end(fault: Fault | null): void {
    const { wire } = this.#upstream
    this.#ended = true
    this.#callerRoom.open()
    this.#caller?.resume()
    this.#options.deadline.clear()
    this.#options.onEnd({ fault, redacted: this.#options.messages.redacted })
    if (wire.destroyed) return
    const patience = setTimeout(() => wire.destroy(), LINGER_MS)
    wire.once('close', () => clearTimeout(patience))
    wire.resume()
  }
}

/** Returns a closing code: an upstream's fault is this server's error, a refusal is a policy violation. */
function closingCodeOf({ code, status }: Fault): number {
  if (code === 'upstream_too_large') return TOO_BIG
  return status < 500 ? POLICY_VIOLATION : INTERNAL_ERROR
}

function toFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('internal_error', { cause: error })
}

function buildBrokenFault(): Fault {
  return new Fault('upstream_protocol_error')
}
