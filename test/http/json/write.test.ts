// tier: quick
/** Large answers are the same JSON as small ones, and other work runs while they are written. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { jsonResponse } from '../../../src/http/json/write.ts'

const padding = 'x'.repeat(300_000)

test('a large answer is written exactly as JSON.stringify would write it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (value) => {
      const answer = { value, absent: undefined, list: [value, padding, '\ud800é😀"\\'] }
      const response = jsonResponse(answer, { status: 201, headers: { 'x-request-id': 'a' } })
      expect(await response.clone().text()).toBe(JSON.stringify(answer))
      expect([response.status, response.headers.get('x-request-id')]).toEqual([201, 'a'])
      const small = jsonResponse({ value }, {})
      expect(response.headers.get('content-type')).toBe(small.headers.get('content-type'))
    }),
    { numRuns: 50 },
  )
})

test('megabytes are written in time slices', async () => {
  const data = Array.from({ length: 500 }, (_, id) => ({ id, value: 'é'.repeat(65_536) }))
  let others = 0
  const timer = setInterval(() => {
    others += 1
  }, 1)
  const text = await jsonResponse({ data }, {}).text()
  clearInterval(timer)
  expect(text.length).toBeGreaterThan(32_000_000)
  expect(others).toBeGreaterThan(5)
})

test('one long text is written in pieces, wherever the boundaries fall', async () => {
  const units = fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00', '"', '\\', '\0', '\n')
  await fc.assert(
    fc.asyncProperty(fc.array(units, { minLength: 1, maxLength: 8 }), async (some) => {
      const text = some.join('').repeat(400_000 / some.length)
      const answer = { body: text, deep: [{ in: { deeper: text } }] }
      const chunks = await Array.fromAsync(jsonResponse(answer, {}).body ?? [])
      expect(Buffer.concat(chunks).equals(Buffer.from(JSON.stringify(answer)))).toBe(true)
    }),
    { numRuns: 30 },
  )
})

test('a piece of a long text is no longer than a piece of a list', async () => {
  const lengths: number[] = []
  const text = '\u0001'.repeat(10 * 1024 * 1024)
  for await (const chunk of jsonResponse({ body: text }, {}).body ?? []) lengths.push(chunk.length)
  expect(Math.max(...lengths)).toBeLessThan(6 * 65_536 + 1024)
  expect(lengths.length).toBeGreaterThanOrEqual(160)
})

test('writing stops when the reader cancels', async () => {
  const data = Array.from({ length: 100 }, () => padding)
  const reader = jsonResponse({ data }, {}).body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  await reader?.cancel()
})
