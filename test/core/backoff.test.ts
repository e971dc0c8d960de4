// tier: quick
import { describe, expect, test } from 'bun:test'
import { Backoff } from '../../src/database/limits/backoff.ts'
import { movable, refusalOf } from './clock_support.ts'

describe('waits after wrong passwords', () => {
  test('waits begin with the fifth wrong password in a row and double up to five minutes', () => {
    const clock = movable()
    const backoff = new Backoff(clock)
    const waits: number[] = []
    for (let failure = 1; failure <= 16; failure += 1) {
      backoff.recordFailure('a')
      const wait = Number(refusalOf(() => backoff.check('a'))?.headers['retry-after'] ?? 0)
      waits.push(wait)
      clock.advance(wait * 1000)
      expect(refusalOf(() => backoff.check('a'))).toBeNull()
    }
    expect(waits).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
  })

  test('waits end with the right password, and affect no other person', () => {
    const backoff = new Backoff(movable())
    for (let failure = 0; failure < 8; failure += 1) backoff.recordFailure('a')
    expect(refusalOf(() => backoff.check('a'))).not.toBeNull()
    expect(refusalOf(() => backoff.check('b'))).toBeNull()
    backoff.recordSuccess('a')
    expect(refusalOf(() => backoff.check('a'))).toBeNull()
  })

  test('waits are not longer for a clock that was set back', () => {
    const clock = movable()
    const backoff = new Backoff(clock)
    for (let failure = 0; failure < 7; failure += 1) backoff.recordFailure('a')
    clock.advance(-86_400_000)
    expect(refusalOf(() => backoff.check('a'))?.headers['retry-after']).toBe('4')
    clock.advance(3_999)
    expect(refusalOf(() => backoff.check('a'))).not.toBeNull()
    clock.advance(1)
    expect(refusalOf(() => backoff.check('a'))).toBeNull()
  })
})
