/** Large answers are the same JSON as small ones, and leave time for others while they are written. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { jsonResponse } from '../../../../src/platform/http/json/write.ts'

const padding = 'x'.repeat(300_000)

test('whatever it holds, a large answer is what JSON.stringify would write', async () => {
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

test('a reader that goes away ends the writing', async () => {
  const data = Array.from({ length: 100 }, () => padding)
  const reader = jsonResponse({ data }, {}).body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  await reader?.cancel()
})
