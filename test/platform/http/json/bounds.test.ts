/** What a body may hold at most, as read from its schema, and that no contract leaves it open. */
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { allEndpoints } from '../../../../src/dev/all_endpoints.ts'
import { type Bounds, boundsOf, unbounded } from '../../../../src/platform/http/json/bounds.ts'

const INFINITE = Number.POSITIVE_INFINITY

/** Paths at which a value has no end to its entries, or may be anything. */
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

const withBody = allEndpoints().flatMap(({ endpoints }) =>
  endpoints.flatMap(({ name, body }) => (body ? [[name, body] as const] : [])),
)

describe('each list and map of a request has a most number of entries', () => {
  test.each(withBody)('%s', (_, body) => {
    expect(openEnds(boundsOf(body))).toEqual([])
  })

  test('an open end is found where it is', () => {
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
