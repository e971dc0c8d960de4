/**
 * The weight of a frame in its workspace's portion of a turn (see scheduler.ts). To guard and pass on an empty frame
 * takes about as long as 256 more bytes of a large one. Only a large frame's first step counts: each later one is a
 * separate step (see steps.ts).
 */

/** About a millisecond of work. */
export const FRAMES_PER_TURN = 64
const BYTES_AS_ONE = 256
const FIRST_STEP = 16_384

export function weightOf(bytes: number): number {
  return 1 + Math.min(bytes, FIRST_STEP) / BYTES_AS_ONE
}
