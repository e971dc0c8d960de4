// tier: quick
/** Tables for people, without a terminal. */
import { expect, test } from 'bun:test'
import { layOut } from '../../src/cli/terminal/table.ts'

const columns = [{ field: 'key', whole: true } as const, 'kind', 'version', 'policy', 'updated_at']
const now = new Date('2026-11-22T12:00:00Z')
const row = (key: string) => ({
  key,
  kind: 'secret',
  version: 3,
  policy: 'to api.example.com and api.example.org, by GET',
  updated_at: new Date('2026-11-21T12:00:00Z'),
})
const lines = (key: string, width = 80) =>
  layOut([row(key)], columns, { width, bold: (text) => text, now })

test.each([5, 20, 40, 52, 60, 70, 80])(
  'a name of %i characters is printed whole, and the line fits',
  (length) => {
    const key = 'K'.repeat(length)
    const table = lines(key)
    expect(table.map((line) => Bun.stringWidth(line) <= 80)).toEqual([true, true])
    expect(table[1]).toStartWith(key)
  },
)

test('the last columns are omitted first, and only if there is no room for narrow ones', () => {
  expect(lines('K'.repeat(30))[0]?.trim().split(/ +/)).toEqual([
    'KEY',
    'KIND',
    'VERSION',
    'POLICY',
    'UPDATED',
  ])
  expect(lines('K'.repeat(52))[0]?.trim().split(/ +/)).toEqual(['KEY', 'KIND', 'VERSION', 'POLICY'])
})

test('a name that is wider than the terminal leaves no room for other columns', () => {
  expect(lines('K'.repeat(90))).toEqual(['KEY', 'K'.repeat(90)])
})
