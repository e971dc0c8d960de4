// tier: quick
/** Case 96: a step of the guard is measured in work, so that no text and no value makes one long. */
import { describe, expect, test } from 'bun:test'
import { prepareGuard } from '../../src/leak_guard/guard.ts'

const STEP = 16_384
/** Ordinary text takes about 5 steps a byte. */
const MOST_WORK = 8 * STEP
/** What one block adds to the last step: its size is judged by the block before. */
const ONE_BLOCK = 8_192 * 100
const TEXT_BYTES = 65_536

const utf8 = (text: string) => new Uint8Array(Buffer.from(text))
const filled = (unit: string) => new Uint8Array(Buffer.alloc(TEXT_BYTES, Buffer.from(unit)))

const collided = Array.from({ length: 200 }, (_, at) => `${'a'.repeat(8 + at)}b${at}`)
const VALUES: Record<string, string[]> = {
  'an ordinary value': ['sk_live_4eC39HqLyjWDarjtT1zdp7dc'],
  'one letter, 4,000 times': ['a'.repeat(4000)],
  '40 ampersands and a letter': [`${'&'.repeat(40)}x`],
  '200 values that begin alike': collided,
  'escapes of every kind': ['a%b\\c&def12345'],
}
const TEXTS = [
  'a',
  '&',
  '\\',
  '%',
  '&amp;',
  '%2561',
  '\\u0061',
  'YWFh',
  '61',
  '97,',
  'a\0',
  'sk_live_',
]

describe.each(Object.entries(VALUES))('%s', (_, values) => {
  test.each(TEXTS)('a text of %p is searched in steps of bounded work', (unit) => {
    const guard = prepareGuard(values.map((value, at) => ({ name: `K${at}`, bytes: utf8(value) })))
    const stream = guard.forCall().stream()
    const steps: number[] = []
    let before = 0
    let from = 0
    for (const searching = stream.pushInSteps(filled(unit), STEP); !searching.next().done; ) {
      const { work } = stream
      steps.push(work - before)
      before = work
      from += 1
    }
    expect(from).toBeGreaterThanOrEqual(TEXT_BYTES / STEP - 1)
    const [first = 0, ...others] = steps
    expect(first).toBeLessThan(MOST_WORK + ONE_BLOCK)
    // From the second block on the text is known to be costly.
    for (const work of others) expect(work).toBeLessThan(2 * MOST_WORK)
  })
})
