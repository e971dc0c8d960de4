/**
 * Makes `Patterns` of strings: time linear in the sum of their lengths. It is a generator, so that a
 * large set can be built with turns of the event loop between.
 */
import { isText } from '../decoding/text_phases.ts'
import { GEAR, LANE_A, LANE_B, POINT_A, POINT_B, power, SealedTable } from './fingerprint.ts'
import {
  FILTER_SHIFT,
  FILTER_WORDS,
  FIRST_CHECKPOINT,
  type Label,
  PATTERNS_AT_ONCE,
  Patterns,
  slotOfGroup,
  type Window,
} from './patterns.ts'

export type Pattern = { readonly bytes: Uint8Array; readonly label: Label }

/** Bytes after which the generator yields. */
export const BUILD_STEP = 4096

/** Runs all steps without pauses. */
export function complete<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** @param patterns distinct strings of at least `window` bytes */
export function* buildPatterns(
  patterns: readonly Pattern[],
  window: Window,
): Generator<void, Patterns> {
  const sorted = patterns.toSorted((a, b) => a.bytes.length - b.bytes.length)
  const maxLength = sorted.at(-1)?.bytes.length ?? 0
  yield
  const groups = yield* groupsOf(sorted, window)
  yield
  const lengthsBy: number[][] = []
  for (const { members } of groups) {
    if (lengthsBy.push([...new Set(members.map(lengthOfMember))]) % PATTERNS_AT_ONCE === 0) yield
  }
  const lengths = Int32Array.from(lengthsBy.flat())
  let first = 0
  const firstOf = lengthsBy.map((list) => {
    first += list.length
    return first - list.length
  })
  function lengthOfMember(index: number): number {
    return sorted[index]?.bytes.length ?? 0
  }
  const keys = keysOf(groups)
  yield
  const built = new Patterns({
    window,
    maxLength,
    labels: sorted.map(({ label }) => label),
    lengthOf: Int32Array.from(sorted, ({ bytes }) => bytes.length),
    ...keys,
    groupFirst: Int32Array.from(firstOf),
    groupCount: Int32Array.from(lengthsBy, (list) => list.length),
    lengths,
    powersA: lengths.map((length) => power(POINT_A, length)),
    powersB: lengths.map((length) => power(POINT_B, length)),
    beginnings: new SealedTable(entriesOf(groups, lengthsBy, maxLength)),
    isText: sorted.every(({ bytes }) => isText(bytes.subarray(0, window))),
  })
  yield
  yield* addBeginnings(built, groups, sorted)
  return built
}

type Group = { hash: number; members: number[] }

function* groupsOf(sorted: readonly Pattern[], window: Window): Generator<void, Group[]> {
  const groups = new Map<number, Group>()
  for (const [index, { bytes }] of sorted.entries()) {
    if (index % PATTERNS_AT_ONCE === PATTERNS_AT_ONCE - 1) yield
    let hash = 0
    for (let at = 0; at < window; at++) {
      hash = ((hash << (32 / window)) + (GEAR[bytes[at] ?? 0] ?? 0)) | 0
    }
    const group = groups.get(hash)
    if (group) group.members.push(index)
    else groups.set(hash, { hash, members: [index] })
  }
  return [...groups.values()]
}

function keysOf(groups: readonly Group[]) {
  const size = 2 ** Math.max(4, Math.ceil(Math.log2(2 * groups.length + 1)))
  const groupKeys = new Int32Array(size)
  const groupIds = new Int32Array(size)
  const bits = new Int32Array(FILTER_WORDS)
  for (const [id, { hash }] of groups.entries()) {
    const slot = slotOfGroup(groupKeys, groupIds, hash)
    groupKeys[slot] = hash
    groupIds[slot] = id + 1
    const bit = hash >>> FILTER_SHIFT
    bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31))
  }
  return { groupKeys, groupIds, bits }
}

/** Returns the maximum number of beginnings that will be added. */
function entriesOf(
  groups: readonly Group[],
  lengthsBy: readonly number[][],
  maxLength: number,
): number {
  const checkpoints = Math.max(0, Math.ceil(Math.log2((maxLength + 1) / FIRST_CHECKPOINT)))
  return groups.reduce((sum, { members }, group) => {
    const steps = Math.ceil(Math.log2((lengthsBy[group]?.length ?? 0) + 1))
    return sum + members.length * (steps + checkpoints + 1)
  }, 1)
}

function* addBeginnings(
  built: Patterns,
  groups: readonly Group[],
  sorted: readonly Pattern[],
): Generator<void, void> {
  const lanes = new Lanes(built.parts.maxLength)
  let done = 0
  for (const [group, { members }] of groups.entries()) {
    for (const index of members) {
      const bytes = sorted[index]?.bytes ?? new Uint8Array()
      lanes.read(bytes)
      addPattern(built, group, lanes, bytes.length, index)
      done += bytes.length
      if (done < BUILD_STEP) continue
      done = 0
      yield
    }
  }
}

/** Adds a string. Members are ordered by length, so that all shorter ones are known when a beginning is added. */
function addPattern(
  built: Patterns,
  group: number,
  lanes: Lanes,
  length: number,
  index: number,
): void {
  const { groupFirst, groupCount, lengths, beginnings } = built.parts
  let low = groupFirst[group] ?? 0
  let high = low + (groupCount[group] ?? 0) - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const at = lengths[middle] ?? 0
    if (at < length) addBeginning(built, group, lanes, at)
    if (at === length) break
    if (at < length) low = middle + 1
    else high = middle - 1
  }
  lanes.add(beginnings, length, index + 1)
  for (let at = FIRST_CHECKPOINT; at < length; at *= 2) addBeginning(built, group, lanes, at)
}

function addBeginning(built: Patterns, group: number, lanes: Lanes, at: number): void {
  const within = findLongestPrefix(built, group, lanes, at)
  lanes.add(built.parts.beginnings, at, within)
}

/** The longest string, plus 1, with which the first `limit` bytes begin; 0 for none. */
function findLongestPrefix(built: Patterns, group: number, lanes: Lanes, limit: number): number {
  const { groupFirst, groupCount, lengths, beginnings } = built.parts
  let low = groupFirst[group] ?? 0
  let high = low + (groupCount[group] ?? 0) - 1
  let longest = 0
  while (low <= high) {
    const middle = (low + high) >> 1
    const at = lengths[middle] ?? 0
    const found = at > limit ? -1 : lanes.find(beginnings, at)
    if (found < 0) high = middle - 1
    else low = middle + 1
    longest = Math.max(found, longest)
  }
  return longest
}

/** The polynomials of all beginnings of a string. */
class Lanes {
  readonly a: Int32Array
  readonly b: Int32Array

  constructor(maxLength: number) {
    this.a = new Int32Array(maxLength + 1)
    this.b = new Int32Array(maxLength + 1)
  }

  find(table: SealedTable, length: number): number {
    return table.find(this.a[length] ?? 0, this.b[length] ?? 0, length)
  }

  add(table: SealedTable, length: number, payload: number): void {
    table.add(this.a[length] ?? 0, this.b[length] ?? 0, length, payload)
  }

  read(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      this.a[at + 1] = (Math.imul(this.a[at] ?? 0, POINT_A) + (LANE_A[byte] ?? 0)) | 0
      this.b[at + 1] = (Math.imul(this.b[at] ?? 0, POINT_B) + (LANE_B[byte] ?? 0)) | 0
    }
  }
}

/** The patterns of a search without strings. */
export const NO_PATTERNS: Patterns = complete(buildPatterns([], 8))
