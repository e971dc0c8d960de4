/**
 * Objects, and parts of them, are read first where they are not too long: clients want to know the length, and
 * what is here as a whole is searched as one. What calls hold so is counted, and for how long one does;
 * beyond that they stream.
 */
import { type BodyAccount, BodyMeter } from '../../core/body_memory.ts'
import { BODY_LIMIT } from '../call.ts'
import type { CallDeadline } from '../deadline.ts'

/** Milliseconds for one body, however its bytes trickle. */
const MAX_WAIT = 10_000

export type Chunks = AsyncIterator<Uint8Array, void>

/** The whole body of that length, or where it is too long, slow or one too many, its chunks from the first on. */
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
      return again(read, chunks, meter)
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

/** It must be read, or begun to be. */
async function* again(
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
