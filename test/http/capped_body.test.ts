// tier: quick
import { expect, test } from 'bun:test'
import { readCapped } from '../../src/http/capped_body.ts'

const tooLarge = () => new Error('too large')

/** Pieces of one byte each, and a count of the read ones. */
function pieces(count: number) {
  const seen = { taken: 0, left: false }
  async function* body() {
    try {
      for (; seen.taken < count; seen.taken += 1) yield Uint8Array.of(seen.taken)
    } finally {
      seen.left = true
    }
  }
  return { seen, body: body() }
}

test('a body of exactly the limit is read', async () => {
  const { body } = pieces(4)
  expect([...(await readCapped(body, 4, tooLarge))]).toEqual([0, 1, 2, 3])
})

test('a body of one byte more is rejected, the rest is not read, and its source is closed', async () => {
  const { body, seen } = pieces(100)
  await expect(readCapped(body, 4, tooLarge)).rejects.toThrow('too large')
  expect(seen).toEqual({ taken: 4, left: true })
})

test('an absent body has no bytes', async () => {
  expect(await readCapped(null, 0, tooLarge)).toHaveLength(0)
})

test('the error of an interrupted body is passed on', async () => {
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('broken off')),
  })
  await expect(readCapped(body, 4, tooLarge)).rejects.toThrow('broken off')
})
