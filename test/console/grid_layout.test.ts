// tier: quick
/** The positions of a grid's rows, so that only rows in view are in the page. */
import { expect, test } from 'bun:test'
import { itemAt, layOutGrid, windowIn } from '../../src/console/web/parts/grid/layout.ts'

test('a section heading comes before the first of the consecutive rows of its section', () => {
  const { items, tops, places } = layOutGrid(['a1', 'a2', 'b1', 'a3'], 38, (row) => row.charAt(0))
  const shown = items.map((item) => (item.kind === 'row' ? item.row : `# ${item.text}`))
  expect(shown).toEqual(['# a', 'a1', 'a2', '# b', 'b1', '# a', 'a3'])
  expect(tops).toEqual([0, 30, 68, 106, 136, 174, 204, 242])
  expect(places).toEqual([1, 2, 4, 6])
})

test('the item at an offset is the one that covers it, also at its first and last pixel', () => {
  const tops = [0, 30, 68, 106]
  expect([0, 29, 30, 67, 68, 105, 106, 999].map((offset) => itemAt(tops, offset))).toEqual([
    0, 0, 1, 1, 2, 2, 3, 3,
  ])
})

test('a window contains the rows in view with a margin, and never leaves the list', () => {
  const { tops } = layOutGrid(Array.from({ length: 100_000 }), 38)
  const height = 380
  expect(windowIn(tops, { top: 0, height }, 5)).toEqual({ from: 0, to: 16 })
  expect(windowIn(tops, { top: 38 * 500, height }, 5)).toEqual({ from: 495, to: 516 })
  expect(windowIn([0], { top: 0, height }, 5)).toEqual({ from: 0, to: 0 })
})

test('a list that became shorter shows its last rows until the browser reports where it is scrolled to', () => {
  const { tops } = layOutGrid(Array.from({ length: 100 }), 38)
  const view = { top: 38 * 1_000, height: 380 }
  expect(windowIn(tops, view, 5)).toEqual({ from: 85, to: 100 })
})
