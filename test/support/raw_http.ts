/** HTTP by hand, for requests that no client library would send. */
import { connect } from 'node:net'
import { search } from './canary.ts'
import { until } from './until.ts'

export type RawAnswer = {
  /** Everything that was received. */
  text: string
  /** The status codes in it, in order. */
  statuses: number[]
  /** Whether the server closed the connection, rather than the test after `timeoutMs`. */
  closed: boolean
}

type Part = string | Uint8Array

type Options = {
  /** Sent one after the other, `pauseMs` apart. */
  pauseMs?: number
  /** Each part is sent only when the previous one has an answer. */
  waitsForAnswers?: boolean
  /** How long to wait for more after the last byte from either side. */
  timeoutMs?: number
}

/** Milliseconds for an answer that must arrive. */
const OWED_MS = 20_000

/** Sends bytes (a string is latin1) and collects the answer until silence or the end. */
export function sendRaw(
  origin: string,
  parts: Part | readonly Part[],
  { pauseMs = 20, timeoutMs = 400, waitsForAnswers = false }: Options = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin)
  const { promise, resolve } = Promise.withResolvers<RawAnswer>()
  const socket = connect({ host: hostname, port: Number(port) })
  let text = ''
  const finish = (closed: boolean) => {
    clearTimeout(silence)
    socket.destroy()
    search('answer', 'of a request by hand', Buffer.from(text, 'latin1'))
    resolve({ text, statuses: statusesOf(text), closed })
  }
  let silence = setTimeout(() => finish(false), timeoutMs)
  const stir = () => {
    clearTimeout(silence)
    const isOwed = waitsForAnswers && statusesOf(text).length < bytesOf(parts).length
    silence = setTimeout(() => finish(false), isOwed ? OWED_MS : timeoutMs)
  }
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    stir()
  })
  socket.on('close', () => finish(true))
  socket.on('error', () => {})
  socket.on('connect', async () => {
    for (const [index, part] of bytesOf(parts).entries()) {
      const isDue = () => !waitsForAnswers || statusesOf(text).length >= index
      await until(() => isDue() || socket.destroyed)
      if (socket.destroyed) return
      socket.write(part)
      stir()
      // A test sends parts separately because the pause between them is its subject.
      await Bun.sleep(pauseMs)
    }
  })
  return promise
}

function bytesOf(parts: Part | readonly Part[]): Uint8Array[] {
  const list = typeof parts === 'string' || parts instanceof Uint8Array ? [parts] : parts
  return list.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))
}

function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map((match) => Number(match[1]))
}

/** A request with these header lines; the caller sets Host and Content-Length. */
export function rawRequest(line: string, headers: readonly string[], body = ''): string {
  return `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`
}
