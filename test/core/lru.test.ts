// tier: quick
import { describe, expect, test } from 'bun:test'
import { LruMap } from '../../src/core/lru.ts'

function keysOf<V>(map: LruMap<string, V>): string[] {
  return [...map].map(([key]) => key)
}

describe('the bound', () => {
  test('the least recently used entry is evicted; reading and setting are uses', () => {
    const evicted: number[] = []
    const map = new LruMap<string, number>({ max: 3, onEvict: (value) => evicted.push(value) })
    for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index)
    expect(map.get('a')).toBe(0)
    map.set('b', 10)
    map.set('d', 3)
    expect(keysOf(map)).toEqual(['a', 'b', 'd'])
    expect(evicted).toEqual([2])
    expect(map.size).toBe(3)
  })

  test('an entry that is only peeked stays as old as it was', () => {
    const map = new LruMap<string, number>({ max: 2 })
    map.set('a', 1)
    map.set('b', 2)
    expect([map.peek('a'), map.peek('c')]).toEqual([1, undefined])
    map.set('c', 3)
    expect(keysOf(map)).toEqual(['b', 'c'])
  })

  test('an entry that its owner replaces, removes or clears is not evicted', () => {
    const evicted: number[] = []
    const map = new LruMap<string, number>({ max: 2, onEvict: (value) => evicted.push(value) })
    map.set('a', 1)
    map.set('a', 2)
    expect(map.delete('a')).toBe(true)
    expect(map.delete('a')).toBe(false)
    map.set('b', 3)
    map.clear()
    expect(map.size).toBe(0)
    expect(evicted).toEqual([])
  })

  test('entries may be removed during an iteration', () => {
    const map = new LruMap<string, number>({ max: 10 })
    for (const key of ['a', 'b', 'c', 'd']) map.set(key, 1)
    for (const [key] of map) if (key !== 'c') map.delete(key)
    expect(keysOf(map)).toEqual(['c'])
  })
})

describe('expiry', () => {
  function timed() {
    const clock = { time: 1000, now: () => clock.time }
    const evicted: string[] = []
    const map = new LruMap<string, string>({
      max: 10,
      expiry: { ms: 100, clock },
      onEvict: (value) => evicted.push(value),
    })
    return { clock, evicted, map }
  }

  test('an entry expires by the time it was set, however often it is read', () => {
    const { clock, evicted, map } = timed()
    map.set('a', 'first')
    clock.time += 99
    expect(map.get('a')).toBe('first')
    clock.time += 1
    expect(map.get('a')).toBeUndefined()
    expect(map.size).toBe(0)
    expect(evicted).toEqual(['first'])
  })

  test('sweep evicts expired entries, and no others', () => {
    const { clock, evicted, map } = timed()
    map.set('a', 'first')
    clock.time += 60
    map.set('b', 'second')
    clock.time += 60
    map.sweep()
    expect(keysOf(map)).toEqual(['b'])
    expect(evicted).toEqual(['first'])
  })

  test('no entry expires without an age limit', () => {
    const map = new LruMap<string, number>({ max: 1 })
    map.set('a', 1)
    map.sweep()
    expect(map.get('a')).toBe(1)
  })
})

describe('a clock that was set back', () => {
  test('a clock that was set back keeps no entry for longer than its time, and entries that are set later stay', () => {
    let time = 100_000
    const map = new LruMap<string, number>({
      max: 3,
      expiry: { ms: 10, clock: { now: () => time } },
    })
    map.set('ahead', 1)
    expect(map.get('ahead')).toBe(1)
    time -= 86_400
    expect(map.get('ahead')).toBeUndefined()
    map.set('now', 2)
    time += 9
    expect(map.get('now')).toBe(2)
  })
})
