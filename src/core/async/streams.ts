/** Streams of bytes, read and written piece by piece. */
import type { Writable } from 'node:stream'

/** Creates a stream of pieces, each produced on demand. `cancel` is called if the reader cancels. */
export function streamOf(
  pieces: AsyncGenerator<Uint8Array, void>,
  cancel: () => void | Promise<void>,
): ReadableStream<Uint8Array> {
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { value } = await pieces.next()
    if (value) controller.enqueue(value)
    else controller.close()
  }
  return new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 })
}

/** Unlike iteration of the stream itself it leaves the reader to be cancelled while it waits. */
export async function* chunksOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
}

/** Iterates over a stream, which not every browser can do itself. Ending the iteration cancels the stream. */
export async function* piecesOf(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<Uint8Array, void> {
  if (body === null) return
  const reader = body.getReader()
  try {
    yield* chunksOf(reader)
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Resolves when there is room again, or the stream has closed. */
export function hasRoom(stream: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  stream.once('drain', resolve).once('close', resolve)
  return promise.finally(() => stream.off('drain', resolve).off('close', resolve))
}
