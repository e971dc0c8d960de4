/**
 * What a frame counts in its workspace's portion of a turn (see scheduler.ts). To guard and pass on an empty
 * one takes about as long as 256 bytes more of a large one, of which only the first step counts here: each
 * that follows is its own step (see steps.ts).
 */

/** About a millisecond of work. */
export const FRAMES_PER_TURN = 64
const BYTES_AS_ONE = 256
const FIRST_STEP = 16_384

export function weightOf(bytes: number): number {
  return 1 + Math.min(bytes, FIRST_STEP) / BYTES_AS_ONE
}
