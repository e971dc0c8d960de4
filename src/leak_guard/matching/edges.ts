/**
 * The edges of a part of an answer (status 206): where a range cuts a value, a short beginning or end of
 * it is recognised, from 4 bytes on. Longer ends of runs are fragments anyway.
 */
import { LANE_A, LANE_B, POINT_A, POINT_B, SealedTable } from './fingerprint.ts'
import { FRAGMENT } from './guarded.ts'

const MIN_EDGE = 4
/** Longer ends of values that are no runs are not known. */
export const MAX_EDGE = 128
const IS_RUN = /^[A-Za-z0-9+/_=.~-]+$/

export class Edges {
  readonly beginnings: SealedTable
  readonly ends: SealedTable

  /** @param runs those of fragments; @param values all that are guarded */
  constructor(runs: readonly Uint8Array[], values: readonly Uint8Array[]) {
    const others = values.filter((value) => !isLongRun(value))
    const count =
      runs.length * FRAGMENT + others.reduce((sum, { length }) => sum + edgeOf(length), 0)
    this.beginnings = new SealedTable(count)
    this.ends = new SealedTable(count)
    for (const run of runs) this.#add(run, FRAGMENT - 1)
    for (const value of others) this.#add(value, edgeOf(value.length))
  }

  /** Length of the longest end of a value with which the bytes begin; 0 for none. */
  endAt(bytes: Uint8Array): number {
    return longest(this.ends, bytes)
  }

  /** Length of the longest beginning of a value with which the bytes end. */
  beginningAt(bytes: Uint8Array): number {
    let found = 0
    for (let length = Math.min(MAX_EDGE, bytes.length); length >= MIN_EDGE; length--) {
      const end = bytes.subarray(bytes.length - length)
      if (found === 0 && longestIs(this.beginnings, end)) found = length
    }
    return found
  }

  #add(value: Uint8Array, most: number): void {
    addBeginnings(this.beginnings, value, most)
    for (let length = MIN_EDGE; length <= most; length++) {
      const [a, b] = lanesOf(value.subarray(value.length - length))
      this.ends.add(a, b, length, 0)
    }
  }
}

function isLongRun(value: Uint8Array): boolean {
  return value.length >= FRAGMENT && IS_RUN.test(Buffer.from(value).toString('latin1'))
}

/** So long an edge of a value may be: not the whole. */
function edgeOf(length: number): number {
  return Math.min(MAX_EDGE, length - 1)
}

function addBeginnings(table: SealedTable, value: Uint8Array, most: number): void {
  for (let length = MIN_EDGE; length <= most; length++) {
    const [a, b] = lanesOf(value.subarray(0, length))
    table.add(a, b, length, 0)
  }
}

function longest(table: SealedTable, bytes: Uint8Array): number {
  for (let length = Math.min(MAX_EDGE, bytes.length); length >= MIN_EDGE; length--) {
    if (longestIs(table, bytes.subarray(0, length))) return length
  }
  return 0
}

function longestIs(table: SealedTable, bytes: Uint8Array): boolean {
  const [a, b] = lanesOf(bytes)
  return table.find(a, b, bytes.length) >= 0
}

function lanesOf(bytes: Uint8Array): [number, number] {
  let a = 0
  let b = 0
  for (const byte of bytes) {
    a = (Math.imul(a, POINT_A) + (LANE_A[byte] ?? 0)) | 0
    b = (Math.imul(b, POINT_B) + (LANE_B[byte] ?? 0)) | 0
  }
  return [a, b]
}
