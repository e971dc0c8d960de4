/**
 * The edges of a part of an answer (status 206): where a range cuts a value, a short beginning or end of
 * it is recognised, from 4 bytes on. Longer ends of runs are fragments anyway.
 */
import { LANE_A, LANE_B, POINT_A, POINT_B, SealedTable } from './fingerprint.ts'
import { FRAGMENT } from './guarded.ts'

const MIN_EDGE = 4
/** Longer ends of values that are no runs are not known. */
export const MAX_EDGE = 128
/** Values between two turns of the event loop. */
const AT_ONCE = 64
const IS_RUN = /^[A-Za-z0-9+/_=.~-]+$/

export class Edges {
  readonly beginnings: SealedTable
  readonly ends: SealedTable

  constructor(capacity: number) {
    this.beginnings = new SealedTable(capacity)
    this.ends = new SealedTable(capacity)
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

  /** Adds all edges of a value of at most so many bytes, each from the one before. */
  add(value: Uint8Array, most: number): void {
    let [a, b, endA, endB, powerA, powerB] = [0, 0, 0, 0, 1, 1]
    for (let length = 1; length <= most; length++) {
      const byte = value[length - 1] ?? 0
      const last = value[value.length - length] ?? 0
      a = (Math.imul(a, POINT_A) + (LANE_A[byte] ?? 0)) | 0
      b = (Math.imul(b, POINT_B) + (LANE_B[byte] ?? 0)) | 0
      endA = (endA + Math.imul(LANE_A[last] ?? 0, powerA)) | 0
      endB = (endB + Math.imul(LANE_B[last] ?? 0, powerB)) | 0
      powerA = Math.imul(powerA, POINT_A)
      powerB = Math.imul(powerB, POINT_B)
      if (length < MIN_EDGE) continue
      this.beginnings.add(a, b, length, 0)
      this.ends.add(endA, endB, length, 0)
    }
  }
}

/** @param runs those of fragments; @param values all that are guarded */
export function* buildEdges(
  runs: readonly Uint8Array[],
  values: readonly Uint8Array[],
): Generator<void, Edges> {
  const others = values.filter((value) => !isLongRun(value))
  const count = runs.length * FRAGMENT + others.reduce((sum, { length }) => sum + edgeOf(length), 0)
  const edges = new Edges(count)
  for (const [at, value] of [...runs, ...others].entries()) {
    edges.add(value, at < runs.length ? FRAGMENT - 1 : edgeOf(value.length))
    if (at % AT_ONCE === AT_ONCE - 1) yield
  }
  return edges
}

function isLongRun(value: Uint8Array): boolean {
  return value.length >= FRAGMENT && IS_RUN.test(Buffer.from(value).toString('latin1'))
}

/** So long an edge of a value may be: not the whole. */
function edgeOf(length: number): number {
  return Math.min(MAX_EDGE, length - 1)
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
