/** Counts the bodies of a call whose caller has limits. */
import type { AnswerGuard, GuardedBodyKind, StreamGuard } from '../guard.ts'

export type Traffic = {
  /** Bytes of the request, or of a message to the upstream. */
  recordSent(bytes: number): void
  /** A message of a WebSocket, as the caller gets it. */
  recordMessage(message: Uint8Array): void
  /** Opens the answer's one body. */
  openAnswer(kind: GuardedBodyKind | undefined): AnswerTraffic
  /** The answer's messages of gRPC. */
  recordReceived(bytes: number): void
}

export type AnswerTraffic = { push(bytes: Uint8Array): void; end(): void }

/** The guard of an answer, with its sanitised body counted. */
export function meterGuard(
  guard: AnswerGuard,
  traffic: Traffic | undefined,
  read: (traffic: Traffic, body: Uint8Array, kind?: GuardedBodyKind) => void = readBody,
): AnswerGuard {
  if (!traffic) return guard
  return {
    get redacted() {
      return guard.redacted
    },
    redactHeaders: (headers) => guard.redactHeaders(headers),
    redactBody: async (body, kind) => {
      const redacted = await guard.redactBody(body, kind)
      read(traffic, redacted, kind)
      return redacted
    },
    openStream: (kind) => meterStream(guard.openStream(kind), traffic.openAnswer(kind)),
  }
}

/** Messages of gRPC are counted and not read. */
export function countMessage(traffic: Traffic, message: Uint8Array): void {
  traffic.recordReceived(message.length)
}

function readBody(traffic: Traffic, body: Uint8Array, kind?: GuardedBodyKind): void {
  const answer = traffic.openAnswer(kind)
  answer.push(body)
  answer.end()
}

function meterStream(stream: StreamGuard, answer: AnswerTraffic): StreamGuard {
  const countBytes = (bytes: Uint8Array) => {
    answer.push(bytes)
    return bytes
  }
  return {
    async *push(chunk) {
      for await (const piece of stream.push(chunk)) yield countBytes(piece)
    },
    pushNow: (chunk) => countBytes(stream.pushNow(chunk)),
    flush: () => {
      const last = countBytes(stream.flush())
      answer.end()
      return last
    },
  }
}
