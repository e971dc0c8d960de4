// tier: quick
import { describe, expect, test } from 'bun:test'
import { Semaphore } from '../../src/core/async/semaphore.ts'

describe('a semaphore', () => {
  test('a semaphore runs a limited number at a time, in order, and rejects when the queue is full', async () => {
    const semaphore = new Semaphore({ width: 2, queue: 2 })
    const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
    const started: number[] = []
    const run = (index: number) =>
      semaphore.run(async () => {
        started.push(index)
        await gates[index]?.promise
      })
    const runs = [0, 1, 2, 3].map(run)
    await Promise.resolve()
    expect(started).toEqual([0, 1])
    await expect(run(4)).rejects.toMatchObject({
      code: 'unavailable',
      headers: { 'retry-after': '1' },
    })
    gates[1]?.resolve()
    await runs[1]
    await Promise.resolve()
    expect(started).toEqual([0, 1, 2])
    for (const gate of gates) gate.resolve()
    await Promise.all(runs)
    expect(started).toEqual([0, 1, 2, 3])
  })

  test('a semaphore returns its place when a task fails', async () => {
    const semaphore = new Semaphore({ width: 1, queue: 0 })
    await expect(semaphore.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await semaphore.run(async () => 'yes')).toBe('yes')
  })

  test('a semaphore rejects a task that waited too long, and continues with the others', async () => {
    const semaphore = new Semaphore({ width: 1, queue: 2, waitMs: 20 })
    const gate = Promise.withResolvers<void>()
    const running = semaphore.run(() => gate.promise)
    await expect(semaphore.run(async () => {})).rejects.toMatchObject({ code: 'unavailable' })
    const waiting = semaphore.run(async () => 'ran')
    gate.resolve()
    await running
    expect(await waiting).toBe('ran')
  })
})
