/**
 * Objects, and parts of them, are read first where they are not too long: clients want to know the length, and
 * what is here as a whole is searched as one. What all calls hold so is bounded, and for how long one does;
 * beyond that they stream.
 */
import { BODY_LIMIT } from '../call.ts'
import type { Deadline } from '../deadline.ts'

/** Of all calls of a process. */
const MAX_HELD = 128 * 1024 * 1024
/** Milliseconds for one body, however its bytes trickle. */
const MAX_WAIT = 10_000

/** Bytes that may be held, of which some are. */
export class Holding {
  free: number

  constructor(free: number) {
    this.free = free
  }

  take(bytes: number): boolean {
    this.free -= bytes
    return this.free >= 0
  }

  release(bytes: number): void {
    this.free += bytes
  }
}

const HOLDING = new Holding(MAX_HELD)

export type Chunks = AsyncIterator<Uint8Array, void>
type Bounds = { holding?: Holding; maxWait?: number }

/** The whole body of that length, or where it is too long, slow or one too many, its chunks from the first on. */
export async function readFirst(
  chunks: Chunks,
  length: number,
  deadline: Pick<Deadline, 'putOff'>,
  { holding = HOLDING, maxWait = MAX_WAIT }: Bounds = {},
): Promise<Uint8Array | Chunks> {
  // Where it is not known, too.
  if (!(length <= BODY_LIMIT)) return chunks
  const read: Uint8Array[] = []
  const until = performance.now() + maxWait
  for (;;) {
    const chunk = await nextOf(chunks, read, holding)
    if (!chunk) break
    deadline.putOff()
    read.push(chunk)
    if (!holding.take(chunk.length) || performance.now() >= until) {
      return again(read, chunks, holding)
    }
  }
  release(read, holding)
  return read.length === 1 && read[0] ? read[0] : Buffer.concat(read)
}

async function nextOf(
  chunks: Chunks,
  read: readonly Uint8Array[],
  holding: Holding,
): Promise<Uint8Array | undefined> {
  try {
    return (await chunks.next()).value ?? undefined
  } catch (error) {
    release(read, holding)
    throw error
  }
}

function release(read: readonly Uint8Array[], holding: Holding): void {
  for (const { length } of read) holding.release(length)
}

/** It must be read, or begun to be. */
async function* again(
  read: Uint8Array[],
  rest: Chunks,
  holding: Holding,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (let chunk = read[0]; chunk; chunk = read[0]) {
      yield chunk
      read.shift()
      holding.release(chunk.length)
    }
    for (let chunk = (await rest.next()).value; chunk; chunk = (await rest.next()).value) {
      yield chunk
    }
  } finally {
    release(read, holding)
    await rest.return?.()
  }
}
