// tier: quick
import { describe, expect, test } from 'bun:test'
import { endsWithin, withTimeout } from '../../src/core/async/timeout.ts'
import { FakeTimers, settle } from '../support/fake_timers.ts'

const never = new Promise<never>(() => {})
const late = () => new Error('too late')

describe('withTimeout', () => {
  test('a timeout returns the result of work that is in time', async () => {
    expect(await withTimeout(10_000, Promise.resolve('done'), late)).toBe('done')
  })

  test('a timeout passes on the error of the work itself', async () => {
    const work = Promise.reject(new Error('broken'))
    expect(withTimeout(10_000, work, late)).rejects.toThrow('broken')
  })

  test('a timeout throws the given error when the work is late', async () => {
    const timers = new FakeTimers()
    const outcome = withTimeout(60_000, never, late, timers).catch((error) => error.message)
    await timers.advance(59_999)
    expect(timers.pending).toBe(1)
    await timers.advance(1)
    expect(await outcome).toBe('too late')
  })

  test('an error that arrives after its time is dropped, not left unhandled', async () => {
    const { promise, reject } = Promise.withResolvers<string>()
    await expect(withTimeout(1, promise, late)).rejects.toThrow('too late')
    reject(new Error('after its time'))
    await settle()
  })
})

describe('endsWithin', () => {
  test('the result is true for work that ends, whatever it returns except false', async () => {
    expect(await endsWithin(10_000, Promise.resolve())).toBe(true)
    expect(await endsWithin(10_000, Promise.resolve(0))).toBe(true)
    expect(await endsWithin(10_000, Promise.resolve(false))).toBe(false)
  })

  test('the result is false for late work; an elapsed time allows no work', async () => {
    const timers = new FakeTimers()
    const outcome = endsWithin(60_000, never, timers)
    await timers.advance(60_000)
    expect(await outcome).toBe(false)
    expect(await endsWithin(-1000, never)).toBe(false)
  })

  test('the error of the work is thrown', async () => {
    await expect(endsWithin(10_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })
})
