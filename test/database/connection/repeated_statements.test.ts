// tier: quick
/** Statements are prepared when they repeat, in bounded numbers that do not shut later statements out. */
import { expect, test } from 'bun:test'
import { RepeatedStatements } from '../../../src/database/connection/repeated_statements.ts'

const HALF_AN_HOUR = 30 * 60_000
const LIMIT = 300

function openRepeated() {
  const clock = { now: 0 }
  const repeated = new RepeatedStatements(() => clock.now)
  const isPreparedAfter = (text: string, times: number) =>
    Array.from({ length: times }, () => repeated.see(text)).at(-1)
  const fill = (count: number) => {
    for (let n = 0; n < count; n += 1) isPreparedAfter(`select ${n}`, 2)
  }
  return { clock, repeated, isPreparedAfter, fill }
}

test('a statement is prepared from its second time on', () => {
  const { repeated } = openRepeated()
  const seen = [1, 2, 3].map(() => repeated.see('select 1'))
  expect(seen).toEqual([false, true, true])
})

test('a long statement and a search of the audit are never prepared', () => {
  const { isPreparedAfter } = openRepeated()
  expect(isPreparedAfter(`select '${'x'.repeat(2_000)}'`, 3)).toBe(false)
  expect(isPreparedAfter('select * from audit_logs', 3)).toBe(false)
})

test('a full list takes no statement for half an hour, and then begins again', () => {
  const { clock, isPreparedAfter, fill } = openRepeated()
  fill(LIMIT)
  expect(isPreparedAfter('select late', 5)).toBe(false)
  clock.now = HALF_AN_HOUR - 1
  expect(isPreparedAfter('select late', 5)).toBe(false)
  clock.now = HALF_AN_HOUR
  expect(isPreparedAfter('select late', 1)).toBe(true)
  fill(LIMIT - 1)
  expect(isPreparedAfter('select later', 5)).toBe(false)
})

test('the statements of one pool leave those of another to be prepared', () => {
  openRepeated().fill(LIMIT)
  expect(openRepeated().isPreparedAfter('select late', 2)).toBe(true)
})
