// tier: quick
/**
 * Large bodies are validated entry by entry, and zod's checks of the whole run last. A list that may be absent was
 * once required there: every body of more than 64 KiB without it was rejected.
 */
import { expect, test } from 'bun:test'
import { z } from 'zod'
import { validateLarge } from '../../src/http/validation/validate_large.ts'

const list = z.array(z.string())
const body = z.strictObject({
  name: z.string(),
  optional: list.optional(),
  nested: z.strictObject({ list: list.default([]) }).optional(),
  byDefault: list.default(['a']),
})

test.each([
  [{ name: 'x' }],
  [{ name: 'x', optional: ['b'] }],
  [{ name: 'x', nested: {} }],
  [{ name: 'x', optional: undefined, nested: { list: ['c'] }, byDefault: [] }],
])('a list that may be absent may be absent from a large body: %j', async (value) => {
  expect(await validateLarge(body, value)).toEqual({ data: body.parse(value), issues: [] })
})

test('a list that must not be absent is reported once', async () => {
  const { issues } = await validateLarge(z.strictObject({ list }), {})
  expect(issues.map(({ code, path }) => [code, path])).toEqual([['invalid_type', ['list']]])
})
