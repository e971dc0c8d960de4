// tier: quick
import { expect, test } from 'bun:test'
import { runOnceWithRetry } from '../../src/core/async/once.ts'
import { FakeTimers } from '../support/fake_timers.ts'

test('work runs once for all callers, and a failure is not repeated before its time', async () => {
  const timers = new FakeTimers()
  let runs = 0
  let isBroken = true
  const open = runOnceWithRetry(
    async () => {
      runs += 1
      if (isBroken) throw new Error(`attempt ${runs}`)
      return `result ${runs}`
    },
    10_000,
    timers,
  )
  for (const _ of [1, 2, 3]) await expect(open()).rejects.toThrow('attempt 1')
  isBroken = false
  await timers.advance(9_999)
  await expect(open()).rejects.toThrow('attempt 1')
  await timers.advance(1)
  expect(await Promise.all([open(), open()])).toEqual(['result 2', 'result 2'])
  await timers.advance(60_000)
  expect([await open(), timers.pending]).toEqual(['result 2', 0])
})
