/**
 * Reads objects and their parts before the answer, if they are not too long: clients need the length, and a whole body
 * is searched as one. Memory and time of this are limited; beyond that, bodies are streamed.
 */
import { type BodyAccount, BodyMeter } from '../../core/body_memory.ts'
import { BODY_LIMIT } from '../call.ts'
import type { CallDeadline } from '../deadline.ts'

/** Maximum milliseconds for one body, however slowly it arrives. */
const MAX_WAIT = 10_000

export type Chunks = AsyncIterator<Uint8Array, void>

/** Returns the whole body of that length, or its chunks if it is too long or slow, or there are too many bodies. */
export async function readFirst(
  chunks: Chunks,
  length: number,
  deadline: Pick<CallDeadline, 'putOff'>,
  account: BodyAccount,
  maxWait: number = MAX_WAIT,
): Promise<Uint8Array | Chunks> {
  // Also stream a body of unknown length.
  if (!(length <= BODY_LIMIT)) return chunks
  const meter = new BodyMeter(account)
  const read: Uint8Array[] = []
  const until = performance.now() + maxWait
  for (;;) {
    const chunk = await nextOf(chunks, meter)
    if (!chunk) break
    deadline.putOff()
    read.push(chunk)
    if (!meter.mayRead(chunk.length) || performance.now() >= until) {
      return replayRead(read, chunks, meter)
    }
  }
  meter.hold(0)
  return read.length === 1 && read[0] ? read[0] : Buffer.concat(read)
}

async function nextOf(chunks: Chunks, meter: BodyMeter): Promise<Uint8Array | undefined> {
  try {
    return (await chunks.next()).value ?? undefined
  } catch (error) {
    meter.hold(0)
    throw error
  }
}

/** The iterator must be read, or at least started. */
async function* replayRead(
  read: Uint8Array[],
  rest: Chunks,
  meter: BodyMeter,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (let chunk = read[0]; chunk; chunk = read[0]) {
      yield chunk
      read.shift()
    }
    meter.hold(0)
    for (let chunk = (await rest.next()).value; chunk; chunk = (await rest.next()).value) {
      yield chunk
    }
  } finally {
    meter.hold(0)
    await rest.return?.()
  }
}
