// tier: quick
/** Fragments against brute force: windows at fixed places, and the text around them. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { prepareGuard } from '../../src/leak_guard/guard.ts'
import { HELD_RUN } from '../../src/leak_guard/hold.ts'

const utf8 = (text: string) => new Uint8Array(Buffer.from(text))
const VALUES = [
  'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
  'q3VbW0cU7hZ9xKd2LmP5sT8yRfGjHnB41',
  'exactly-16-chars',
  'aaaaaaaaaaaaaaaaaaaa',
]
const guard = prepareGuard(
  VALUES.map((value, at) => ({ name: `K${at}`, bytes: utf8(value) })),
).forCall()

/** Every place of a window, by checking every place, and 15 characters of the run beside it. */
function byBruteForce(text: string): string {
  const windows = VALUES.flatMap((value) => [...(value.match(/.{16}/g) ?? []), value.slice(-16)])
  const hidden = text.replace(/[A-Za-z0-9+/_=.~-]{16,}/g, (run) => {
    const marks = new Uint8Array(run.length)
    for (let at = 0; at + 16 <= run.length; at++) {
      if (windows.includes(run.slice(at, at + 16))) marks.fill(1, Math.max(0, at - 15), at + 31)
    }
    return [...run].map((character, at) => (marks[at] ? '\0' : character)).join('')
  })
  return hidden.replaceAll(/\0+/g, '[REDACTED]')
}

const cut = fc
  .tuple(fc.constantFrom(...VALUES), fc.nat(20), fc.nat(40))
  .map(([value, from, length]) => value.slice(from, from + length))
const filler = fc.constantFrom('x', ' ', '\n', '/', '_more.of-it', '!', '='.repeat(40), '"', 'ö')
const texts = (parts: fc.Arbitrary<string>) =>
  fc.array(fc.oneof(parts, filler), { maxLength: 9 }).map((list) => list.join(''))

test('fragments that brute force finds are replaced, and no other text is', () => {
  fc.assert(
    fc.property(texts(cut), (text) => {
      fc.pre(!VALUES.some((value) => text.includes(value)))
      const output = Buffer.from(guard.body(utf8(text), { isJson: false })).toString()
      // Two adjacent ones may represent themselves.
      expect(output.replaceAll(/(\[REDACTED\])+/g, '[REDACTED]')).toBe(byBruteForce(text))
    }),
    { numRuns: 2000 },
  )
})

test('any division into chunks gives the same result, also among whole values', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(texts(fc.oneof(cut, fc.constantFrom(...VALUES))), sizes, (text, chunks) => {
      const body = utf8(text)
      const whole = Buffer.from(guard.body(body)).toString()
      const stream = guard.stream()
      const pieces: Uint8Array[] = []
      for (let from = 0, turn = 0; from < body.length; turn++) {
        const size = chunks[turn % chunks.length] ?? 1
        pieces.push(stream.push(body.slice(from, from + size)))
        from += size
      }
      expect(Buffer.concat([...pieces, stream.flush()]).toString()).toBe(whole)
      for (const value of VALUES) expect(whole).not.toContain(value)
    }),
    { numRuns: 2000 },
  )
})

test('little is held back of a run of megabytes, and the search is fast', () => {
  const stream = guard.stream()
  const [fragment, filler] = [VALUES[0]?.slice(0, 20) ?? '', 'x'.repeat(65_536)]
  let given = stream.push(utf8(filler)).length
  expect(given).toBe(filler.length - HELD_RUN)
  given = stream.push(utf8(`${fragment}${filler}`)).length
  expect(given).toBeGreaterThan(filler.length - 64)
  const most = utf8((VALUES[3] ?? '').repeat(100_000))
  const start = performance.now()
  const output = guard.body(most)
  expect(output.length).toBeLessThan(100)
  expect(performance.now() - start).toBeLessThan(5000)
})
