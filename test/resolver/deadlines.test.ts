// tier: quick
/** The time limit of a call: a total for an answer in JSON, and an idle time for a streamed one. */
import { describe, expect, test } from 'bun:test'
import { settings } from '../../src/core/config/settings.ts'
import { resolveCall } from '../../src/resolver/contract.ts'
import { forwardSettings } from '../../src/resolver/forwarding/contract.ts'
import { deadlineFor } from '../../src/resolver/resolve.ts'

const MINUTES_10 = 600_000
const silenceMs = settings.shape.RESOLVER_SILENCE_MS.parse(undefined)
const wholeMs = settings.shape.RESOLVER_TIMEOUT_MS.parse(undefined)

describe('the deadline of a call', () => {
  test.each([
    ['a whole answer takes the deadline of the operator', true, null, 30_000],
    ['a whole answer takes the deadline that the call names', true, MINUTES_10, MINUTES_10],
    ['a stream may be silent for ten minutes', false, undefined, MINUTES_10],
    ['a stream takes the shorter silence that the call names', false, 45_000, 45_000],
  ] as const)('%s', (_, isWhole, named, expected) => {
    expect(deadlineFor(isWhole, named, { wholeMs, silenceMs })).toBe(expected)
  })

  test("the silence of a stream is bounded by the operator's setting", () => {
    expect(deadlineFor(false, MINUTES_10, { wholeMs, silenceMs: 60_000 })).toBe(60_000)
    expect(deadlineFor(false, null, { wholeMs, silenceMs: 60_000 })).toBe(60_000)
  })

  test('a call may request up to ten minutes', () => {
    const call = { target_url: 'https://api.example.com/' }
    const taken = [MINUTES_10, MINUTES_10 + 1].map((timeout_ms) => [
      resolveCall.body.safeParse({ ...call, timeout_ms }).success,
      forwardSettings.safeParse({ timeout_ms: String(timeout_ms) }).success,
    ])
    expect(taken).toEqual([
      [true, true],
      [false, false],
    ])
  })
})
