// tier: quick
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { RateLimiter } from '../../../src/database/limits/rate.ts'
import { movable, refusalOf } from '../../core/clock_support.ts'

describe('a limit', () => {
  test('a limit admits its count immediately, then returns how long to wait', () => {
    const clock = movable()
    const limiter = new RateLimiter({ count: 3, seconds: 60 }, clock)
    const states = [1, 2, 3].map(() => limiter.take('a'))
    expect(states.map(({ remaining }) => remaining)).toEqual([2, 1, 0])
    const refusal = refusalOf(() => limiter.take('a'))
    expect(refusal).toMatchObject({ code: 'rate_limited', status: 429 })
    expect(refusal?.headers).toEqual({
      'retry-after': '20',
      ratelimit: '"default";r=0;t=20',
      'ratelimit-policy': '"default";q=3;w=60',
    })
  })

  test('a limit is kept per key', () => {
    const limiter = new RateLimiter({ count: 1, seconds: 60 }, movable())
    limiter.take('a')
    expect(refusalOf(() => limiter.take('a'))).not.toBeNull()
    expect(refusalOf(() => limiter.take('b'))).toBeNull()
  })

  test('a caller who waits for Retry-After is admitted; a moment earlier they are rejected', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 3600 }),
        (count, seconds) => {
          const clock = movable()
          const limiter = new RateLimiter({ count, seconds }, clock)
          for (let taken = 0; taken < count; taken += 1) limiter.take('a')
          const wait = Number(refusalOf(() => limiter.take('a'))?.headers['retry-after'])
          expect(wait).toBeGreaterThanOrEqual(1)
          clock.advance(Math.floor((seconds * 1000) / count) - 1)
          expect(refusalOf(() => limiter.take('a'))).not.toBeNull()
          clock.advance(wait * 1000)
          expect(refusalOf(() => limiter.take('a'))).toBeNull()
        },
      ),
      { numRuns: 50 },
    )
  })

  test('a limit never admits more than its count in a window, plus what it refills', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(steps, (pauses) => {
        const clock = movable()
        const limiter = new RateLimiter({ count: 5, seconds: 1 }, clock)
        const start = clock.now()
        let through = 0
        for (const pause of pauses) {
          clock.advance(pause)
          if (refusalOf(() => limiter.take('a')) === null) through += 1
          expect(through).toBeLessThanOrEqual(5 + ((clock.now() - start) / 1000) * 5 + 1e-9)
        }
      }),
    )
  })

  test('rejected requests are free: repeated attempts do not lengthen the wait', () => {
    const clock = movable()
    const limiter = new RateLimiter({ count: 1, seconds: 10 }, clock)
    limiter.take('a')
    for (let second = 0; second < 9; second += 1) {
      clock.advance(1000)
      expect(refusalOf(() => limiter.take('a'))).not.toBeNull()
    }
    clock.advance(1000)
    expect(refusalOf(() => limiter.take('a'))).toBeNull()
  })

  test('a limit is full again after its window, and never more than full', () => {
    const clock = movable()
    const limiter = new RateLimiter({ count: 2, seconds: 10 }, clock)
    limiter.take('a')
    clock.advance(1_000_000)
    expect([limiter.take('a').remaining, limiter.take('a').remaining]).toEqual([1, 0])
    expect(refusalOf(() => limiter.take('a'))).not.toBeNull()
  })

  test('a clock that is set back refills nothing, and does not lengthen a wait', () => {
    const clock = movable()
    const limiter = new RateLimiter({ count: 1, seconds: 10 }, clock)
    limiter.take('a')
    clock.advance(-100_000)
    expect(refusalOf(() => limiter.take('a'))).toMatchObject({ code: 'rate_limited' })
    clock.advance(10_000)
    expect(refusalOf(() => limiter.take('a'))).toBeNull()
  })
})
