/**
 * Replaces values that the guard found in answers by stand-ins, so that a program can use what it stores. A program
 * that named a credential by its placeholder gets the placeholder again.
 */

import { chunksOf, streamOf } from '../../core/async/streams.ts'
import type { BodyMemory } from '../../core/body_memory.ts'
import { beginningAtEndOf } from '../../core/policy/partial_match.ts'
import { changeBinary, isBinary } from '../../outbound/encoded_headers.ts'
import {
  encodeGrpcFrame,
  FLAGS,
  framesOf,
  type GrpcFrame,
  isGrpc,
  readTrailers,
  trailersFrame,
} from '../../outbound/grpc/frames.ts'
import { buildHeldCredentialFault, readMarked } from '../../outbound/grpc/messages.ts'
import { grpcRefusal } from '../../outbound/grpc/status.ts'
import { AFTER_MARK, FORMS, MAX_AFTER_MARK, type MarkForm } from '../../outbound/stand_ins/mark.ts'
import { holdShort, wholeOf } from '../request.ts'
import type { StandIns } from './stand_ins.ts'

/** The text that represents a value. */
type TextOf = (name: string, form: MarkForm) => string

/** `basic` is the base64 of the Basic credentials that the program sent, if any. */
export function textsFor(
  standIns: StandIns,
  { named, basic }: { named: ReadonlySet<string>; basic: string | null },
): TextOf {
  return (name, form) => {
    if (form === FORMS.sent && basic !== null) return basic
    const text = named.has(name) ? undefined : standIns.of(name)?.text
    if (text === undefined) return `SVC_SECRET_${name}`
    return form === FORMS.escaped ? JSON.stringify(text).slice(1, -1) : text
  }
}

/** Finds the marks in chunks of bytes. A possible beginning of a mark waits for the following bytes. */
export class MarkReader {
  readonly #mark: string
  readonly #textOf: TextOf
  #held: Buffer = Buffer.alloc(0)

  constructor(mark: string, textOf: TextOf) {
    this.#mark = mark
    this.#textOf = textOf
  }

  push(chunk: Uint8Array): Uint8Array {
    return this.#read(Buffer.concat([this.#held, chunk]), false)
  }

  flush(): Uint8Array {
    return this.#read(this.#held, true)
  }

  #read(bytes: Buffer, isLast: boolean): Uint8Array {
    const out: Uint8Array[] = []
    let from = 0
    for (;;) {
      const at = bytes.indexOf(this.#mark, from)
      if (at < 0) break
      out.push(bytes.subarray(from, at))
      const after = at + this.#mark.length
      const rest = bytes.toString('latin1', after, after + MAX_AFTER_MARK)
      const [whole, form = FORMS.plain, name = ''] = AFTER_MARK.exec(rest) ?? []
      if (whole === undefined && !isLast && rest.length < MAX_AFTER_MARK) {
        this.#held = bytes.subarray(at)
        return Buffer.concat(out)
      }
      out.push(Buffer.from(whole === undefined ? '' : this.#textOf(name, form as MarkForm)))
      from = after + (whole?.length ?? 0)
    }
    const kept = isLast ? 0 : beginningAtEndOf(bytes.subarray(from), this.#mark)
    this.#held = bytes.subarray(bytes.length - kept)
    out.push(bytes.subarray(from, bytes.length - kept))
    return Buffer.concat(out)
  }
}

/** Replaces the marks in complete bytes. */
export function withoutMarks(bytes: Uint8Array, mark: string, textOf: TextOf): Buffer<ArrayBuffer> {
  const reader = new MarkReader(mark, textOf)
  return Buffer.concat([reader.push(bytes), reader.flush()])
}

export function textWithoutMarks(text: string, mark: string, textOf: TextOf): string {
  if (!text.includes(mark)) return text
  return Buffer.from(withoutMarks(Buffer.from(text), mark, textOf)).toString()
}

export async function rewriteIncoming(
  response: Response,
  { mark }: StandIns,
  textOf: TextOf,
  bodies: BodyMemory,
): Promise<Response> {
  const { status, body } = response
  const rewriteHeaders = (given: Iterable<[string, string]>) =>
    [...given].map(([name, value]): [string, string] => [
      name,
      headerWithoutMarks(name, value, mark, textOf),
    ])
  const headers = rewriteHeaders(response.headers)
  const type = response.headers.get('content-type')
  if (body && isGrpc(type)) {
    const rewriteMessage = (bytes: Uint8Array) => withoutMarks(bytes, mark, textOf)
    return new Response(
      callWithoutMarks(body, { inMessage: rewriteMessage, inHeaders: rewriteHeaders }),
      { status, headers },
    )
  }
  const isEvents = /^text\/event-stream\b/i.test(type ?? '')
  // A line break would end the event.
  const rewriteEvent: TextOf = (name, form) =>
    textOf(name, form === FORMS.sent ? form : FORMS.escaped)
  const textIn = isEvents ? rewriteEvent : textOf
  const held = holdShort(response, bodies)
  if (held) {
    // Hardly any has one, and objects are large.
    const without = (bytes: Uint8Array<ArrayBuffer>) =>
      Buffer.from(bytes.buffer).includes(mark) ? withoutMarks(bytes, mark, textIn) : bytes
    return wholeOf(response, held, headers, without)
  }
  return new Response(body && rewriteStream(body, new MarkReader(mark, textIn)), {
    status,
    headers,
  })
}

function headerWithoutMarks(name: string, value: string, mark: string, textOf: TextOf): string {
  const whole = isBinary(name)
    ? changeBinary(value, (bytes, encode) =>
        bytes.includes(mark) ? encode(withoutMarks(bytes, mark, textOf)) : null,
      )
    : value
  return textWithoutMarks(whole, mark, (named, form) =>
    rewriteOneLine(textOf(named, form === FORMS.sent ? form : FORMS.plain), named),
  )
}

function rewriteOneLine(text: string, name: string): string {
  return /[\r\n]/.test(text) ? `SVC_SECRET_${name}` : text
}

function rewriteStream(
  body: ReadableStream<Uint8Array>,
  marks: MarkReader,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return streamOf(readPieces(reader, marks), () => reader.cancel())
}

async function* readPieces(reader: ReadableStreamDefaultReader<Uint8Array>, marks: MarkReader) {
  for await (const chunk of chunksOf(reader)) {
    const bytes = marks.push(chunk)
    if (bytes.length > 0) yield bytes
  }
  const rest = marks.flush()
  if (rest.length > 0) yield rest
}

type Unmark = {
  inMessage(bytes: Uint8Array): Uint8Array
  inHeaders(headers: Iterable<[name: string, value: string]>): Iterable<[string, string]>
}

/** Replaces the marks in answers of gRPC, frame by frame. In a message, a replacement is as long as the value. */
function callWithoutMarks(
  body: ReadableStream<Uint8Array>,
  { inMessage, inHeaders }: Unmark,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const unmarkFrame = ({ flags, payload }: GrpcFrame): Uint8Array | null => {
    if (flags === FLAGS.trailers) {
      return trailersFrame(Object.fromEntries(inHeaders(Object.entries(readTrailers(payload)))))
    }
    if (flags !== FLAGS.marked) return encodeGrpcFrame(flags, payload)
    const { length, text } = readMarked(payload)
    const message = inMessage(text)
    return message.length === length ? encodeGrpcFrame(FLAGS.message, message) : null
  }
  const frames = (async function* () {
    for await (const frame of framesOf(chunksOf(reader))) {
      const changed = unmarkFrame(frame)
      yield changed ?? trailersFrame(grpcRefusal(buildHeldCredentialFault()))
      if (changed) continue
      return void reader.cancel()
    }
  })()
  return streamOf(frames, () => reader.cancel())
}
