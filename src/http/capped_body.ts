/** Reads a body of unknown length, up to a limit. */
import type { BodyMeter } from '../core/body_memory.ts'

/** All bytes of a body, counted by `meter`. @throws the error of `tooLarge` as soon as there are more than `limit` */
export async function readCapped(
  body: AsyncIterable<Uint8Array> | null,
  limit: number,
  tooLarge: () => Error,
  meter?: BodyMeter,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > limit) throw tooLarge()
    meter?.read(chunk.length)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
