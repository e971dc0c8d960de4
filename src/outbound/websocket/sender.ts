/**
 * Sends messages to the upstream, in order, within the workspace's portion of each turn. The caller is not read while a
 * message waits, so at most the frames of one read of its connection can wait.
 */
import type { TLSSocket } from 'node:tls'
import { encodeClosing, encodeFrame, type FrameType } from './frames.ts'
import { ReaderGate } from './gate.ts'
import type { FilledText } from './message.ts'

type Options = {
  /** Resolves when a frame of this size may be handled; `null` if it may be handled now. */
  turn(bytes: number): Promise<void> | null
  /** Pauses or resumes reading from the caller. */
  onHeld(isHeld: boolean): void
  /** Fills a text message for the upstream; `null` sends it unchanged. */
  fill(payload: Uint8Array): Promise<FilledText> | null
  /** Called when a message is not sent. */
  onRefused(error: unknown): void
  /** Called when the upstream was given a frame. */
  onSent(): void
}

/** RFC 6455, section 7.4.1. */
const GOING_AWAY = 1001

/** Not passed on if it has no type. */
type Frame = { type: FrameType | null; payload: Uint8Array }

export class FrameSender {
  readonly #wire: TLSSocket
  readonly #options: Options
  readonly #room = new ReaderGate()
  #waiting: Frame[] = []
  #isSending = false
  #isHeld = false
  #isOver = false

  constructor(wire: TLSSocket, options: Options) {
    this.#wire = wire
    this.#options = options
    wire.on('drain', () => this.#room.open())
    wire.once('close', () => {
      this.#isOver = true
      this.#room.open()
    })
  }

  /** In order. A close frame is the last. */
  push(type: FrameType, payload: Uint8Array): void {
    this.#append({ type, payload })
  }

  /** Counts a frame that is not passed to the upstream: it waits for its turn like any other. */
  countOnly(): void {
    this.#append({ type: null, payload: new Uint8Array() })
  }

  #append(frame: Frame): void {
    if (this.#isOver) return
    this.#waiting.push(frame)
    if (!this.#isSending) void this.#sendAll()
  }

  /** Sends before all queued messages. Resolves when there is space for more; `null` if there is already. */
  sendNow(type: FrameType, payload: Uint8Array): Promise<void> | null {
    if (!this.#isOver) this.#write(type, payload)
    return this.#room.opened
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    while (this.#waiting.length > 0) {
      const frames = this.#waiting
      this.#waiting = []
      for (const frame of frames) {
        await this.#send(frame)
        if (this.#isOver) return
      }
    }
    this.#isSending = false
    if (this.#isHeld) this.#options.onHeld(false)
    this.#isHeld = false
  }

  async #send({ type, payload }: Frame): Promise<void> {
    await this.#hold(this.#options.turn(payload.length))
    await this.#hold(this.#room.opened)
    if (this.#isOver) return
    if (type === 'text') await this.#sendText(payload)
    else if (type) this.#write(type, payload)
  }

  /** Nothing is sent after a refused message. */
  async #sendText(payload: Uint8Array): Promise<void> {
    try {
      const filling = this.#options.fill(payload)
      const filled = filling && (await this.#hold(filling))
      const isSent = !this.#isOver
      if (isSent) this.#write('text', filled?.payload ?? payload)
      filled?.conclude(isSent)
    } catch (error) {
      this.#options.onRefused(error)
      if (!this.#isOver) this.#write('close', encodeClosing(GOING_AWAY))
    }
  }

  #hold<T>(until: Promise<T> | null): Promise<T> | null {
    if (until && !this.#isHeld) {
      this.#isHeld = true
      this.#options.onHeld(true)
    }
    return until
  }

  #write(type: FrameType, payload: Uint8Array): void {
    if (!this.#wire.write(encodeFrame(type, payload))) this.#room.shut()
    this.#options.onSent()
    if (type !== 'close') return
    this.#isOver = true
    this.#wire.end()
  }
}
