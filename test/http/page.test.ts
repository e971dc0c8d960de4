// tier: quick
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { openPager, type PageRows } from '../../src/http/page.ts'
import { Reply } from '../../src/http/reply.ts'

const readPage = openPager({ SECRET_KEY: 'a secret key of at least 32 characters' })

/** A list of these names, in their order. */
const listing = (names: string[], name = 'list') => ({
  name,
  read: async ({ after: [after], limit }: { after: readonly string[]; limit: number }) =>
    names.filter((row) => after === undefined || row > after).slice(0, limit + 1),
  sortKey: (row: string) => [row],
})
const read = (names: string[], limit: number, cursor?: string, name?: string) =>
  readPage<string, string[]>(listing(names, name), { limit, cursor })
const cursorOf = (reply: Reply<string[]>) => reply.options.nextCursor ?? ''

test('a page that holds all rows has no next page', async () => {
  expect(await read(['a', 'b'], 2)).toEqual(new Reply(['a', 'b'], { nextCursor: null }))
  expect(await read([], 2)).toEqual(new Reply([] as string[], { nextCursor: null }))
})

test('the next page begins after the last returned row', async () => {
  const reply = await read(['a', 'b', 'c'], 2)
  expect(reply.data).toEqual(['a', 'b'])
  expect((await read(['a', 'b', 'c'], 2, cursorOf(reply))).data).toEqual(['c'])
})

test('a page has no more rows than its list allows, whatever the limit', async () => {
  const reply = await readPage<string, string[]>(
    { ...listing(['a', 'b', 'c']), maxRows: 2 },
    { limit: 500 },
  )
  expect([reply.data, cursorOf(reply) === '']).toEqual([['a', 'b'], false])
})

test('only the rows of the page are opened and recorded, not the one after it', async () => {
  const recorded: string[] = []
  const reply = await readPage<string, string[]>(
    {
      ...listing(['a', 'b', 'c']),
      open: (rows) => rows.map((row) => row.toUpperCase()),
      record: (rows) => recorded.push(...rows),
    },
    { limit: 2 },
  )
  expect([reply.data, recorded]).toEqual([
    ['A', 'B'],
    ['a', 'b'],
  ])
})

test('a listing that ends a page early passes on its additional data', async () => {
  const early: PageRows<string> = { rows: ['a'], hasMore: true, beside: { manifest: 'm' } }
  const reply = await readPage<string, string[]>(
    { ...listing([]), read: async () => early },
    { limit: 2 },
  )
  expect([reply.data, reply.options.beside]).toEqual([['a'], { manifest: 'm' }])
  expect((await read(['a', 'b'], 2, cursorOf(reply))).data).toEqual(['b'])
})

test('walking the pages returns every row once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.string(), { maxLength: 40 }),
      fc.integer({ min: 1, max: 9 }),
      async (unsorted, limit) => {
        const rows = unsorted.sort()
        const seen: string[] = []
        let cursor: string | undefined
        do {
          const reply = await read(rows, limit, cursor)
          seen.push(...reply.data)
          cursor = reply.options.nextCursor ?? undefined
        } while (cursor !== undefined)
        expect(seen).toEqual(rows)
      },
    ),
  )
})

describe('a cursor', async () => {
  const cursor = cursorOf(await read(['a', 'b'], 1))
  const refusal = { code: 'validation_error', fields: [{ path: 'cursor' }] }

  test('a cursor of another list is refused', async () => {
    expect(await read(['a'], 1, cursor, 'other').catch((error) => error)).toMatchObject(refusal)
  })

  test('a cursor of another server is refused', async () => {
    const other = openPager({ SECRET_KEY: 'another secret key, also 32 characters' })
    const attempt = other<string, string[]>(listing(['a']), { limit: 1, cursor })
    expect(await attempt.catch((error) => error)).toMatchObject(refusal)
  })

  test('a cursor that was changed, cut or invented is refused', async () => {
    const bytes = Buffer.from(cursor, 'base64url')
    const made = ['', 'a', '*', cursor.slice(0, -2), cursor.slice(2), 'W10', 'A'.repeat(512)]
    const forged = Array.from(bytes, (byte, at) => {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(byte ^ 1, at)
      return changed.toString('base64url')
    })
    for (const text of [...made, ...forged])
      expect(await read(['a'], 1, text).catch((error) => error)).toMatchObject(refusal)
  })

  test('an invalid cursor is refused without waiting in the queue', async () => {
    const queue = () => Promise.reject(new Error('queued'))
    const attempt = readPage<string, string[]>(
      { ...listing(['a']), queue },
      { limit: 1, cursor: 'a' },
    )
    expect(await attempt.catch((error) => error)).toMatchObject(refusal)
    const valid = readPage<string, string[]>({ ...listing(['a']), queue }, { limit: 1 })
    await expect(valid).rejects.toThrow('queued')
  })

  test('a cursor is rejected by a list whose name has the same beginning', async () => {
    const short = cursorOf(await read(['[', 'b'], 1))
    expect(await read(['a'], 1, short, 'list[').catch((error) => error)).toMatchObject(refusal)
  })
})
