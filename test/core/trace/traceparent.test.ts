// tier: quick
import { expect, test } from 'bun:test'
import { parseTraceparent, traceparentOf } from '../../../src/core/trace/traceparent.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test('a traceparent is read as W3C Trace Context defines, and its written form is read again', () => {
  const text = `00-${TRACE}-${SPAN}-01`
  const context = { traceId: TRACE, spanId: SPAN, isSampled: true }
  expect(parseTraceparent(text)).toEqual(context)
  expect(traceparentOf(context)).toBe(text)
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-00`)?.isSampled).toBe(false)
  // Unknown flags, and fields that later versions add.
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-ff`)?.isSampled).toBe(true)
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01-what-comes-later`)).toEqual(context)
})

const invalid = {
  'none at all': null,
  'empty text': '',
  'version ff': `ff-${TRACE}-${SPAN}-01`,
  'a trace of zeros': `00-${'0'.repeat(32)}-${SPAN}-01`,
  'a span of zeros': `00-${TRACE}-${'0'.repeat(16)}-01`,
  capitals: `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  'a trace too short': `00-${TRACE.slice(1)}-${SPAN}-01`,
  'more in version 00': `00-${TRACE}-${SPAN}-01-more`,
  'two of them': `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  'white space': ` 00-${TRACE}-${SPAN}-01`,
  'an end without its dash': `cc-${TRACE}-${SPAN}-01more`,
  'more than can be meant': `cc-${TRACE}-${SPAN}-01-${'x'.repeat(10_000)}`,
}
for (const [name, text] of Object.entries(invalid))
  test(`a traceparent is invalid: ${name}`, () => {
    expect(parseTraceparent(text)).toBeNull()
  })
