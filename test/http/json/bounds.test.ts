// tier: quick
/** The limits of a body come from its schema, and every contract has them. */
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { map } from '../../../src/core/validation/validate.ts'
import { listAllEndpoints } from '../../../src/dev/all_endpoints.ts'
import { type Bounds, boundsOf, unbounded } from '../../../src/http/json/bounds.ts'
import { readJsonBytes } from '../../../src/http/json/read.ts'

const INFINITE = Number.POSITIVE_INFINITY

/** Paths with a value that has unlimited entries, or may be anything. */
function openEnds(bounds: Bounds, path = 'body'): string[] {
  if (bounds === unbounded) return [`${path}: anything`]
  const { list, object } = bounds
  const others = object && typeof object.others === 'object' ? object.others : null
  return [
    ...(list?.maxItems === INFINITE ? [`${path}: list`] : []),
    ...(list ? openEnds(list.items, `${path}.0`) : []),
    ...(object?.maxProperties === INFINITE ? [`${path}: map`] : []),
    ...(others ? openEnds(others, `${path}.*`) : []),
    ...[...(object?.properties ?? [])].flatMap(([name, inner]) =>
      openEnds(inner, `${path}.${name}`),
    ),
  ]
}

const withBody = listAllEndpoints().flatMap(({ endpoints }) =>
  endpoints.flatMap(({ name, body }) => (body ? [[name, body] as const] : [])),
)

describe('each list and map of a request has a maximum number of entries', () => {
  test.each(withBody)('%s', (_, body) => {
    expect(openEnds(boundsOf(body))).toEqual([])
  })

  test('the check finds a list, map or field without a maximum', () => {
    const open = z.object({
      list: z.array(z.string()),
      map: z.record(z.string(), z.unknown()).optional(),
      deep: z.array(z.object({ any: z.unknown() })).max(3),
    })
    expect(openEnds(boundsOf(open))).toEqual([
      'body.list: list',
      'body.map: map',
      'body.map.*: anything',
      'body.deep.0.any: anything',
    ])
  })
})

describe('a body that is read within bounds', () => {
  const schema = z.strictObject({
    list: z.array(z.strictObject({ id: z.string().max(3) })).max(2),
    map: map({ max: 2 }, z.string(), z.number()).optional(),
  })
  const read = (text: string) => readJsonBytes(new TextEncoder().encode(text), boundsOf(schema))

  test('a body within its bounds is read completely', async () => {
    const value = { list: [{ id: 'a' }, { id: 'b' }], map: { a: 1 } }
    expect(await read(JSON.stringify(value))).toEqual({ value, tooLong: [], cut: [] })
  })

  test('each list or map that is too long is reported once', async () => {
    const { tooLong } = await read(`{"list":[{"id":"a"},{},3,4,5],"map":{"a":1,"b":2,"c":3,"d":4}}`)
    const message = 'must have a number of entries of at most 2'
    expect(tooLong).toEqual([
      { path: 'list', message },
      { path: 'map', message },
    ])
  })

  test.each([
    ['a value of another kind', '{"list":[[1,[2]]]}', 'list.0', { list: [[]] }],
    ['a field that is missing', '{"list":[{}]}', 'list.0.id', { list: [{}] }],
    ['an unknown field', '{"list":[],"more":{"a":[1]}}', 'more', { list: [], more: null }],
  ])('%s is read without its content', async (_, text, path, value) => {
    const cut = [{ path, message: 'is not valid' }]
    expect(await read(text)).toEqual({ value, tooLong: [], cut })
  })

  test('the reader stops keeping content after 100 invalid values', async () => {
    const open = boundsOf(z.object({ list: z.array(z.string()).max(10_000) }))
    const text = JSON.stringify({ list: Array.from({ length: 5000 }, () => 1) })
    const { value, cut } = await readJsonBytes(new TextEncoder().encode(text), open)
    expect(cut).toHaveLength(100)
    expect(value).toEqual({ list: Array.from({ length: 100 }, () => 1) })
  })

  test('a text that is too long is truncated to one that is still too long', async () => {
    const { value } = await read(`{"list":[{"id":"${'x'.repeat(1_000_000)}"}]}`)
    const [first] = (value as { list: { id: string }[] }).list
    expect(first?.id.length).toBeGreaterThan(3)
    expect(first?.id.length).toBeLessThan(100_000)
  })

  test('a duplicate key is also found in discarded content', async () => {
    for (const text of ['{"more":{"a":1,"a":2}}', '{"list":[1,2,3,{"a":1,"a":2}]}'])
      await expect(read(text)).rejects.toThrow('The request body has a duplicate key.')
  })
})
