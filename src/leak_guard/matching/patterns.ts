/**
 * The strings of a guard, as fingerprints only. Work per position of a text does not depend on their number. The
 * rolling hash of a string's first bytes identifies its group. In a group, a binary search over the lengths, guided by
 * fingerprints of beginnings, finds the longest string at a position (Waldvogel's search on prefix lengths).
 */
import { POINT_A, POINT_B, power, type SealedTable } from './fingerprint.ts'

/** A find's label: the names of a value in byte order; empty for a part of a value. */
export type Label = {
  readonly names: readonly string[]
  /** The caller's text in place of this text. */
  readonly sent?: string
}

/** Strings that are prepared in one step. */
export const PATTERNS_AT_ONCE = 512

/** Bytes of a string that choose its group: 8, or 4 if there are shorter strings. */
export type Window = 4 | 8

/** The upper 16 bits of the rolling hash choose a bit of the filter: a fixed shift costs least. */
export const FILTER_SHIFT = 16
export const FILTER_WORDS = 2 ** (32 - FILTER_SHIFT - 5)

/** Beginnings of 16, 32, 64… bytes are also known, so that a vain wait for more text ends early. */
export const FIRST_CHECKPOINT = 16

export type PatternParts = {
  readonly window: Window
  readonly maxLength: number
  readonly labels: readonly Label[]
  readonly lengthOf: Int32Array
  /** One bit for each value of the upper bits of the rolling hash. */
  readonly bits: Int32Array
  /** By rolling hash: open addressing; the group's id plus one, 0 for an empty slot. */
  readonly groupKeys: Int32Array
  readonly groupIds: Int32Array
  /** By group: the place of its distinct lengths in `lengths`, ascending, and their number. */
  readonly groupFirst: Int32Array
  readonly groupCount: Int32Array
  readonly lengths: Int32Array
  /** The powers of the two points to those lengths. */
  readonly powersA: Int32Array
  readonly powersB: Int32Array
  readonly beginnings: SealedTable
  /** Whether the first `window` bytes of all are text. */
  readonly isText: boolean
}

export class Patterns {
  readonly parts: PatternParts
  /** Bits by which the rolling hash is shifted for each byte. */
  readonly step: 4 | 8
  /** The powers of the two points to 2^n. */
  readonly checkpointsA = CHECKPOINTS_A
  readonly checkpointsB = CHECKPOINTS_B

  constructor(parts: PatternParts) {
    this.parts = parts
    this.step = parts.window === 8 ? 4 : 8
  }

  get isEmpty(): boolean {
    return this.parts.labels.length === 0
  }

  /** The group whose strings begin with the bytes of this rolling hash, or -1. */
  groupOf(hash: number): number {
    const { groupKeys, groupIds } = this.parts
    const slot = slotOfGroup(groupKeys, groupIds, hash)
    return (groupIds[slot] ?? 0) - 1
  }

  /** The longest string of a group. */
  longestOf(group: number): number {
    const { lengths, groupFirst, groupCount } = this.parts
    return lengths[(groupFirst[group] ?? 0) + (groupCount[group] ?? 0) - 1] ?? 0
  }
}

const CHECKPOINTS_A = Int32Array.from({ length: 31 }, (_, at) => power(POINT_A, 2 ** at))
const CHECKPOINTS_B = Int32Array.from({ length: 31 }, (_, at) => power(POINT_B, 2 ** at))

/** The slot of a hash among the groups, or the empty slot for it. */
export function slotOfGroup(keys: Int32Array, ids: Int32Array, hash: number): number {
  const mask = keys.length - 1
  let slot = Math.imul(hash, 0x9e3779b1) >>> 7
  slot &= mask
  while (ids[slot] !== 0 && keys[slot] !== hash) slot = (slot + 1) & mask
  return slot
}
