/** The canary's sources: programs that tests start, and answers that they get over plain HTTP. */

import { endsWithin } from '../../src/core/async/timeout.ts'
import { type Sink, search, searcher } from './canary.ts'

type Program = {
  readonly stdout?: Uint8Array | ReadableStream<Uint8Array> | number | null | undefined
  readonly stderr?: Uint8Array | ReadableStream<Uint8Array> | number | null | undefined
}

type Options = {
  /** This command shows a value to its caller on standard output on purpose. */
  reveals?: boolean
}

/** A program just started, or one that ended: its output is searched, and then passed on. */
export function watched<P extends Program>(program: P, { reveals = false }: Options = {}): P {
  if (!reveals) watchOutput(program, 'stdout')
  watchOutput(program, 'stderr')
  return program
}

function watchOutput(program: Program, name: 'stdout' | 'stderr'): void {
  const output = program[name]
  if (output instanceof Uint8Array) search('output', name, output)
  if (!(output instanceof ReadableStream)) return
  // Not `tee()`: with it a test that stops reading would wait for the canary, which reads everything.
  let isWanted = true
  const value = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const pass = (piece: Uint8Array) => isWanted && controller.enqueue(piece)
      const searched = searchPieces('output', `${name} of a program`, output, pass)
      void searched.then(() => isWanted && controller.close())
    },
    cancel: () => {
      isWanted = false
    },
  })
  Object.defineProperty(program, name, { value })
}

const pending = new Set<Promise<void>>()

/** Resolves when all pending output has been searched, except endless output. */
export async function outputSearched(): Promise<void> {
  await endsWithin(2000, Promise.all(pending))
  // Endless output is awaited once only, so later files need not wait.
  pending.clear()
}

/** Resolves at the end, also of an interrupted answer: the received part was searched. */
function searchPieces(
  sink: Sink,
  place: string,
  stream: ReadableStream<Uint8Array>,
  pass: (piece: Uint8Array) => void = () => {},
): Promise<void> {
  const look = searcher(sink, place)
  const searchStream = async () => {
    for await (const piece of stream) {
      look(piece)
      pass(piece)
    }
  }
  const searched = searchStream()
    .catch(() => {})
    .finally(() => pending.delete(searched))
  pending.add(searched)
  return searched
}

/** Watches the product's listeners, which use plain HTTP: all errors, and whole answers of the resolver. */
export function watchAnswers(original: typeof fetch): typeof fetch {
  const watching = (...[input, init]: Parameters<typeof fetch>) => {
    const answer = original(input, init)
    const url = input instanceof Request ? input.url : String(input)
    return url.startsWith('http://') ? answer.then((given) => look(url, given)) : answer
  }
  return Object.assign(watching, { preconnect: original.preconnect })
}

function look(url: string, answer: Response): Response {
  const { pathname } = new URL(url)
  const isWhole = answer.headers.has('content-length')
  const isShown = answer.status >= 400 || (pathname === '/v1/resolve' && isWhole)
  const copy = isShown && !answer.bodyUsed ? answer.clone().body : null
  const place = `${answer.status} of ${pathname}`
  search('answer', place, JSON.stringify([...answer.headers]))
  if (copy) void searchPieces('answer', place, copy)
  return answer
}
