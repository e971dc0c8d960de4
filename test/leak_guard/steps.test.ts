// tier: quick
/**
 * Case 96: the search of a text is measured in work, and so are its steps. Other tenants wait for one step: no text
 * and no value makes one long, however many values collide.
 */
import { describe, expect, test } from 'bun:test'
import { type CallGuard, prepareGuard } from '../../src/leak_guard/guard.ts'
import type { GuardStream } from '../../src/leak_guard/guard_stream.ts'
import { ESCAPES, type Form } from './forms.ts'
import { HOSTILE, hostileText, WRITINGS } from './hostile.ts'

/** Bytes of ordinary text in one step, and its work: a byte of prose takes about 5. */
const STEP = 4_096
const STEP_WORK = 8 * STEP
/** A step ends with the block in which its work is done. */
const BLOCK_WORK = 65_536
/** The factor for a block that costs more than the previous one. */
const DEARER = 2
/** For each byte of a text: every reading checks a byte a few times, and a look-up counts as eight. */
const WORK_PER_BYTE = 72
const TEXT_BYTES = 12_000

const guardOf = (values: readonly string[]) =>
  prepareGuard(
    values.map((value, at) => ({ name: `K${at}`, bytes: new Uint8Array(Buffer.from(value)) })),
  ).forCall()

/** The work of each step but the last, which ends the search and with it the count. */
function workOf(stream: GuardStream, steps: Generator<void, unknown>): number[] {
  const works: number[] = []
  let before = 0
  while (!steps.next().done) {
    works.push(stream.work - before)
    before = stream.work
  }
  works.push(stream.work - before)
  return works
}

type Search = (guard: CallGuard, text: Uint8Array) => number[]
/** Both run the same code after the first line, so a stream gets escapes only. */
const ways: [name: string, search: Search, writings: Record<string, Form>][] = [
  [
    'a whole answer',
    (guard, text) => {
      const stream = guard.stream({ length: text.length })
      return workOf(stream, stream.guardWhole(text, STEP, []))
    },
    WRITINGS,
  ],
  [
    'a stream',
    (guard, text) => {
      const stream = guard.stream()
      return workOf(stream, stream.pushInSteps(text, STEP))
    },
    ESCAPES,
  ],
]

describe.each(Object.entries(HOSTILE))('%s', (_, { values, units }) => {
  test.each(ways)(
    'every adversarial text is searched as %s in steps of bounded work',
    (_, search, writings) => {
      const guard = guardOf(values)
      const tooMuch: object[] = []
      for (const [writing, write] of Object.entries(writings)) {
        for (const unit of units) {
          const works = search(guard, hostileText(unit, write, TEXT_BYTES))
          const sum = works.reduce((all, work) => all + work, 0)
          const most = Math.max(...works)
          const isBounded = most <= STEP_WORK + DEARER * BLOCK_WORK && sum > 0
          if (!isBounded || sum > WORK_PER_BYTE * TEXT_BYTES) {
            tooMuch.push({ writing, unit: unit.slice(0, 20), most, perByte: sum / TEXT_BYTES })
          }
        }
      }
      expect(tooMuch).toEqual([])
    },
  )
})
