// tier: quick
/** Opened environment keys: few, cached briefly, and wiped on eviction. */
import { afterEach, expect, test } from 'bun:test'
import { KeyCache } from '../../src/access/keys.ts'
import { Secret } from '../../src/core/secret.ts'

const MAX_KEYS = 4096

let now = 0
const caches: KeyCache[] = []
const open = (seconds: number) => {
  const cache = new KeyCache(seconds, { now: () => now })
  caches.push(cache)
  return cache
}
afterEach(() => {
  for (const cache of caches.splice(0)) cache.close()
})

const key = (fill: number) => new Secret(new Uint8Array(32).fill(fill))
const bytesOf = (secret: Secret | null) => secret && [...new Set(secret.reveal())]

test('a key is kept for its time, not longer, and then wiped', () => {
  const cache = open(60)
  cache.put('a', key(7))
  now += 59_999
  const held = cache.get('a')
  expect(bytesOf(held)).toEqual([7])
  now += 1
  expect(cache.get('a')).toBeNull()
  cache.sweep()
  expect(cache.size).toBe(0)
  expect(bytesOf(held)).toEqual([0])
})

test('a use or a second put does not prolong the time', () => {
  const cache = open(60)
  cache.put('a', key(7))
  now += 30_000
  cache.get('a')
  cache.put('a', key(7))
  now += 30_000
  expect(cache.get('a')).toBeNull()
})

test('KEY_CACHE_SECONDS=0 keeps no key', () => {
  const cache = open(0)
  cache.put('a', key(7))
  expect(cache.get('a')).toBeNull()
  expect(cache.size).toBe(0)
})

test("the caller's copy of a key is not wiped with the cached copy", () => {
  const cache = open(60)
  const own = key(7)
  cache.put('a', own)
  cache.close()
  expect(bytesOf(own)).toEqual([7])
})

test('a key that is in use is not wiped by another request that opened the same one', () => {
  const cache = open(60)
  cache.put('a', key(7))
  const held = cache.get('a')
  cache.put('a', key(7))
  expect(bytesOf(held)).toEqual([7])
  expect(cache.get('a')).toBe(held)
})

test('the number of keys is bounded: the least recently used one is wiped, not the one just added', () => {
  const cache = open(60)
  cache.put('first', key(1))
  cache.put('second', key(2))
  const second = cache.get('second')
  const first = cache.get('first')
  for (let number = 0; number < MAX_KEYS - 1; number += 1) cache.put(`key ${number}`, key(3))
  expect(cache.size).toBe(MAX_KEYS)
  expect(bytesOf(first)).toEqual([1])
  expect(bytesOf(second)).toEqual([0])
})

test('closing wipes every key', () => {
  const cache = open(60)
  cache.put('a', key(7))
  const held = cache.get('a')
  cache.close()
  expect(bytesOf(held)).toEqual([0])
  expect(cache.size).toBe(0)
})
