// tier: quick
import { expect, test } from 'bun:test'
import { Scheduler } from '../../src/outbound/scheduler.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('a burst of one workspace starts in portions, in order, and another workspace does not wait behind it', async () => {
  const turns = new Scheduler(2)
  const begun: string[] = []
  const begin = (name: string, workspace: string) => {
    const turn = turns.take(workspace)
    if (turn) void turn.then(() => begun.push(name))
    else begun.push(name)
  }
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) begin(name, 'a')
  begin('b1', 'b')
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  await nextTurn()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  begin('b2', 'b')
  await nextTurn()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4', 'b2', 'a5'])
})

test('waiting calls start before arriving ones', async () => {
  const turns = new Scheduler(1)
  const begun: string[] = []
  expect(turns.take('a')).toBeNull()
  const second = turns.take('a')?.then(() => begun.push('second'))
  await nextTurn()
  const third = turns.take('a')?.then(() => begun.push('third'))
  await Promise.all([second, third])
  expect(begun).toEqual(['second', 'third'])
})

test('calls that come one at a time never wait', async () => {
  const turns = new Scheduler(1)
  for (let call = 0; call < 3; call += 1) {
    expect(turns.take('a')).toBeNull()
    await nextTurn()
  }
})
