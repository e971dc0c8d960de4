// tier: quick
/** Finds become spans: a repeated find costs one check, and the order of overlapping finds does not matter. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Label } from '../../src/leak_guard/matching/patterns.ts'
import { type Span, Spans } from '../../src/leak_guard/spans.ts'

const [LONG, SHORT, PART]: [Label, Label, Label] = [
  { names: ['LONG'] },
  { names: ['SHORT'] },
  { names: [] },
]

test('a find that adds nothing to a span returns that same span', () => {
  const spans = new Spans()
  spans.add(10, 30, LONG, 1)
  const { first } = spans
  spans.add(10, 30, LONG, 1)
  spans.add(12, 20, SHORT, 0)
  spans.add(12, 20, PART, 1)
  expect(spans.first).toBe(first as Span)
})

test('a find inside a span of parts gives it its name, and one of another form its form', () => {
  const spans = new Spans()
  spans.add(10, 30, PART, 0)
  spans.add(12, 20, SHORT, 0)
  expect(spans.first).toMatchObject({ start: 10, end: 30, label: SHORT, named: 8, form: 0 })
  spans.add(14, 18, PART, 2)
  expect(spans.first).toMatchObject({ start: 10, end: 30, label: SHORT, named: 8, form: 2 })
})

const find = fc.record({
  start: fc.nat({ max: 20 }),
  length: fc.integer({ min: 1, max: 8 }),
  label: fc.constantFrom(LONG, SHORT, PART),
  form: fc.nat({ max: 3 }),
})

test('finds in any order, with repetitions, become the same spans', () => {
  const spansOf = (finds: { start: number; length: number; label: Label; form: number }[]) => {
    const spans = new Spans()
    for (const { start, length, label, form } of finds) {
      spans.add(start, start + length, label, form)
    }
    const all: Span[] = []
    for (let next = spans.first; next; next = spans.first) {
      all.push(next)
      spans.shift()
    }
    return all
  }
  fc.assert(
    fc.property(fc.array(find, { maxLength: 8 }), fc.nat({ max: 7 }), (finds, at) => {
      const turned = [...finds.slice(at), ...finds.slice(0, at), ...finds]
      expect(spansOf(turned)).toEqual(spansOf(finds))
    }),
    { numRuns: 2_000 },
  )
})
