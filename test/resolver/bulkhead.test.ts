// tier: quick
import { expect, test } from 'bun:test'
import { Fault } from '../../src/core/fault.ts'
import { CallDeadline } from '../../src/outbound/deadline.ts'
import { Bulkheads } from '../../src/resolver/bulkhead.ts'
import { FakeTimers } from '../support/fake_timers.ts'

const never = new AbortController().signal

function refusal(entering: unknown): Promise<unknown> {
  return Promise.resolve(entering).then(
    () => 'entered',
    (error) => (error instanceof Fault ? [error.code, error.headers] : error),
  )
}

/** The number of a workspace's free places: takes all of them, and returns them. */
async function freePlaces(bulkheads: Bulkheads, workspaceId: string): Promise<number> {
  const left: (() => void)[] = []
  for (;;) {
    const entering = bulkheads.enter(workspaceId, AbortSignal.abort())
    if (entering instanceof Promise) {
      await entering.catch(() => {})
      break
    }
    left.push(entering)
  }
  for (const leave of left) leave()
  return left.length
}

const BUSY = ['rate_limited', { 'retry-after': '1' }]

test('a full bulkhead rejects its own workspace only', async () => {
  const timers = new FakeTimers()
  const bulkheads = new Bulkheads({ width: 2, timers })
  await bulkheads.enter('a', never)
  await bulkheads.enter('a', never)
  const waiting = bulkheads.enter('a', never) as Promise<() => void>
  await timers.advance(999)
  expect(await Promise.race([refusal(waiting), 'waiting'])).toBe('waiting')
  await timers.advance(1)
  expect(await refusal(waiting)).toEqual(BUSY)
  expect(await refusal(bulkheads.enter('b', never))).toBe('entered')
  expect([await freePlaces(bulkheads, 'a'), await freePlaces(bulkheads, 'b')]).toEqual([0, 1])
})

test('a free place goes to the call that has waited longest', async () => {
  const bulkheads = new Bulkheads({ width: 2, timers: new FakeTimers() })
  const leaveFirst = await bulkheads.enter('a', never)
  const leave = await bulkheads.enter('a', never)
  const order: string[] = []
  const [second, third] = ['second', 'third'].map(async (name) => {
    const leaveLater = await bulkheads.enter('a', never)
    order.push(name)
    return leaveLater
  })
  leave()
  const leaveSecond = await second
  expect(order).toEqual(['second'])
  leaveSecond?.()
  const leaveThird = await third
  expect(order).toEqual(['second', 'third'])
  for (const last of [leaveFirst, leaveThird]) last?.()
  expect(await freePlaces(bulkheads, 'a')).toBe(2)
})

test('releasing a place twice frees one place', async () => {
  const bulkheads = new Bulkheads({ width: 2, timers: new FakeTimers() })
  const leave = await bulkheads.enter('a', never)
  await bulkheads.enter('a', never)
  leave()
  leave()
  expect(await freePlaces(bulkheads, 'a')).toBe(1)
})

test('as many calls wait as may run, and the next is rejected immediately', async () => {
  const bulkheads = new Bulkheads({ width: 1, timers: new FakeTimers() })
  const leave = await bulkheads.enter('a', never)
  const waiting = bulkheads.enter('a', never)
  expect(await refusal(bulkheads.enter('a', never))).toEqual(BUSY)
  leave()
  expect(await refusal(waiting)).toBe('entered')
})

test('a deadline ends the wait, and the place goes to the next', async () => {
  const bulkheads = new Bulkheads({ width: 2, timers: new FakeTimers() })
  const leave = await bulkheads.enter('a', never)
  await bulkheads.enter('a', never)
  const controller = new AbortController()
  const given = refusal(bulkheads.enter('a', controller.signal))
  const next = bulkheads.enter('a', never)
  // In one turn, so that no call receives a place and loses it.
  controller.abort()
  leave()
  expect(await given).toEqual(BUSY)
  await next
  expect(await freePlaces(bulkheads, 'a')).toBe(0)
  expect(await refusal(bulkheads.enter('a', AbortSignal.abort()))).toEqual(BUSY)
})

test('a deadline reports once how its work ended: done, late, cancelled, or over before the question', async () => {
  const ends: string[] = []
  const timers = new FakeTimers()
  const done = new CallDeadline(60_000, timers)
  done.afterwards(() => ends.push('done'))
  done.clear()
  done.abort()
  const unwanted = new CallDeadline(60_000, timers)
  unwanted.afterwards(() => ends.push('unwanted'))
  unwanted.abort()
  unwanted.clear()
  unwanted.afterwards(() => ends.push('asked afterwards'))
  new CallDeadline(60_000, timers).afterwards(() => ends.push('late'))
  await timers.advance(59_999)
  expect(ends).toEqual(['done', 'unwanted', 'asked afterwards'])
  await timers.advance(1)
  expect(ends).toEqual(['done', 'unwanted', 'asked afterwards', 'late'])
})

test('every sign of activity restarts the whole time of a deadline', async () => {
  const timers = new FakeTimers()
  const deadline = new CallDeadline(60_000, timers)
  for (let sign = 0; sign < 10; sign += 1) {
    await timers.advance(59_999)
    deadline.putOff()
  }
  expect(deadline.signal.aborted).toBe(false)
  await timers.advance(60_000)
  expect(deadline.signal.reason).toMatchObject({ name: 'TimeoutError' })
  expect(deadline.isUnwanted).toBe(false)
  deadline.putOff()
  expect(timers.pending).toBe(0)
})
