// tier: quick
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { openPager } from '../../src/http/page.ts'
import { Reply } from '../../src/http/reply.ts'

const pager = openPager({ SECRET_KEY: 'a secret key of at least 32 characters' })
const cut = (rows: string[], limit: number, list = 'list') =>
  pager.cut(
    list,
    rows,
    limit,
    (row) => [row],
    (row) => row,
  )
const cursorOf = (reply: Reply<string[]>) => reply.options.nextCursor ?? ''

const fieldsOf = (action: () => unknown) => {
  try {
    action()
    return 'accepted'
  } catch (error) {
    return error
  }
}

test('the first page begins nowhere', () => {
  expect(pager.start('list', undefined)).toBeNull()
})

test('a page that holds everything has no next one', () => {
  expect(cut(['a', 'b'], 2)).toEqual(new Reply(['a', 'b'], { nextCursor: null }))
  expect(cut([], 2)).toEqual(new Reply([] as string[], { nextCursor: null }))
})

test('the next page begins after the last row that was shown', () => {
  const reply = cut(['a', 'b', 'c'], 2)
  expect(reply.data).toEqual(['a', 'b'])
  expect(pager.start('list', cursorOf(reply))).toEqual(['b'])
})

test('walking the pages shows every row once, in order', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string(), { maxLength: 40 }),
      fc.integer({ min: 1, max: 9 }),
      (unsorted, limit) => {
        const rows = unsorted.sort()
        const seen: string[] = []
        let cursor: string | undefined
        do {
          const [after] = pager.start('list', cursor) ?? []
          const rest = after === undefined ? rows : rows.filter((row) => row > after)
          const reply = cut(rest.slice(0, limit + 1), limit)
          seen.push(...reply.data)
          cursor = reply.options.nextCursor ?? undefined
        } while (cursor !== undefined)
        expect(seen).toEqual(rows)
      },
    ),
  )
})

describe('a cursor', () => {
  const cursor = cursorOf(cut(['a', 'b'], 1))
  const refusal = { code: 'validation_error', fields: [{ path: 'cursor' }] }

  test('of another list is refused', () => {
    expect(fieldsOf(() => pager.start('other', cursor))).toMatchObject(refusal)
  })

  test('of another server is refused', () => {
    const other = openPager({ SECRET_KEY: 'another secret key, also 32 characters' })
    expect(fieldsOf(() => other.start('list', cursor))).toMatchObject(refusal)
  })

  test('that was changed in any byte, cut or made up is refused', () => {
    const bytes = Buffer.from(cursor, 'base64url')
    for (let at = 0; at < bytes.length; at += 1) {
      const forged = Buffer.from(bytes)
      forged.writeUInt8(forged.readUInt8(at) ^ 1, at)
      expect(fieldsOf(() => pager.start('list', forged.toString('base64url')))).toMatchObject(
        refusal,
      )
    }
    for (const made of ['', 'a', '*', cursor.slice(0, -2), cursor.slice(2), 'W10', 'A'.repeat(512)])
      expect(fieldsOf(() => pager.start('list', made))).toMatchObject(refusal)
  })

  test('of one list is none of a list whose name continues it', () => {
    const short = cursorOf(cut(['[', 'b'], 1, 'list'))
    expect(fieldsOf(() => pager.start('list[', short))).toMatchObject(refusal)
  })
})
