// tier: quick
import { expect, test } from 'bun:test'
import { Deadline } from '../../src/outbound/deadline.ts'
import { Fault } from '../../src/platform/fault.ts'
import { Bulkheads } from '../../src/resolver/bulkhead.ts'

const never = new AbortController().signal

function refusal(entering: unknown): Promise<unknown> {
  return Promise.resolve(entering).then(
    () => 'entered',
    (error) => (error instanceof Fault ? [error.code, error.headers] : error),
  )
}

/** Of a workspace's places those that are free: they are taken, and given back. */
async function freePlaces(bulkheads: Bulkheads, workspaceId: string): Promise<number> {
  const left: (() => void)[] = []
  for (;;) {
    const entering = bulkheads.enter(workspaceId, AbortSignal.timeout(5))
    const entered = await Promise.resolve(entering).catch(() => null)
    if (entered === null) break
    left.push(entered)
  }
  for (const leave of left) leave()
  return left.length
}

const BUSY = ['rate_limited', { 'retry-after': '1' }]

test('a full bulkhead refuses its own workspace only', async () => {
  const bulkheads = new Bulkheads({ width: 2, timeoutMs: 1 })
  await bulkheads.enter('a', never)
  await bulkheads.enter('a', never)
  expect(await refusal(bulkheads.enter('a', never))).toEqual(BUSY)
  expect(await refusal(bulkheads.enter('b', never))).toBe('entered')
  expect([await freePlaces(bulkheads, 'a'), await freePlaces(bulkheads, 'b')]).toEqual([0, 1])
})

test('a place that is given back goes to the one who has waited longest', async () => {
  const bulkheads = new Bulkheads({ width: 2, timeoutMs: 60_000 })
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

test('giving a place back twice frees one', async () => {
  const bulkheads = new Bulkheads({ width: 2, timeoutMs: 1 })
  const leave = await bulkheads.enter('a', never)
  await bulkheads.enter('a', never)
  leave()
  leave()
  expect(await freePlaces(bulkheads, 'a')).toBe(1)
})

test('no more wait than may run: the next is refused at once', async () => {
  const bulkheads = new Bulkheads({ width: 1, timeoutMs: 60_000 })
  const leave = await bulkheads.enter('a', never)
  const waiting = bulkheads.enter('a', never)
  expect(await refusal(bulkheads.enter('a', never))).toEqual(BUSY)
  leave()
  expect(await refusal(waiting)).toBe('entered')
})

test('a deadline ends the wait, and the place goes to the next', async () => {
  const bulkheads = new Bulkheads({ width: 2, timeoutMs: 60_000 })
  const leave = await bulkheads.enter('a', never)
  await bulkheads.enter('a', never)
  const controller = new AbortController()
  const given = refusal(bulkheads.enter('a', controller.signal))
  const next = bulkheads.enter('a', never)
  // In one turn: nobody may receive a place and lose it.
  controller.abort()
  leave()
  expect(await given).toEqual(BUSY)
  await next
  expect(await freePlaces(bulkheads, 'a')).toBe(0)
  expect(await refusal(bulkheads.enter('a', AbortSignal.abort()))).toEqual(BUSY)
})

test('a deadline tells once that its work is over: done, late, unwanted, or over before it was asked', async () => {
  const ends: string[] = []
  const done = new Deadline(60_000)
  done.afterwards(() => ends.push('done'))
  done.clear()
  done.abort()
  const unwanted = new Deadline(60_000)
  unwanted.afterwards(() => ends.push('unwanted'))
  unwanted.abort()
  unwanted.clear()
  unwanted.afterwards(() => ends.push('asked afterwards'))
  await new Promise<void>((resolve) => new Deadline(1).afterwards(resolve))
  expect(ends).toEqual(['done', 'unwanted', 'asked afterwards'])
})
