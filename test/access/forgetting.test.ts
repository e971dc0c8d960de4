// tier: quick, both databases in test:all
/** The entries that a change notice removes from the caches, and those that stay. */
import { describe, expect, test } from 'bun:test'
import { KeyCache } from '../../src/access/keys.ts'
import { Secret } from '../../src/core/secret.ts'

const clock = { now: () => 0 }
const key = (fill: number) => new Secret(new Uint8Array(32).fill(fill))
const ZERO = new Uint8Array(32)

/** Opens a cache with a key of two workspaces each. */
function filled() {
  const cache = new KeyCache(3600, clock)
  for (const [index, name] of ['one/a', 'one/b', 'two/a'].entries()) cache.put(name, key(index + 1))
  return cache
}

describe('forgetting the keys of a workspace', () => {
  test("forgetting removes a workspace's keys immediately and wipes them, except a key that a caller has just received", async () => {
    const cache = filled()
    const given = cache.get('one/a')
    const kept = cache.get('two/a')
    cache.forget('one/')
    expect([cache.get('one/a'), cache.get('one/b')]).toEqual([null, null])
    await Promise.resolve()
    expect(given?.reveal()).toEqual(new Uint8Array(32).fill(1))
    await new Promise((resolve) => setImmediate(resolve))
    expect(given?.reveal()).toEqual(ZERO)
    expect(kept?.reveal()).toEqual(new Uint8Array(32).fill(3))
    expect(cache.stats).toEqual({ hits: 2, misses: 2, entries: 1 })
    cache.close()
  })

  test('forgetting without a workspace removes all keys', async () => {
    const cache = filled()
    const given = [cache.get('one/a'), cache.get('one/b'), cache.get('two/a')]
    cache.forget()
    expect(cache.size).toBe(0)
    await new Promise((resolve) => setImmediate(resolve))
    expect(given.map((one) => one?.reveal())).toEqual([ZERO, ZERO, ZERO])
    cache.close()
  })

  test('forgetting also drops a key that was requested before it and opened after it', () => {
    const cache = new KeyCache(3600, clock)
    const { generation } = cache
    cache.forget('one/')
    cache.put('one/a', key(1), generation)
    expect(cache.get('one/a')).toBeNull()
    cache.put('one/a', key(1), cache.generation)
    expect(cache.get('one/a')).not.toBeNull()
    cache.close()
  })
})
