/** Layout shift: the controls that moved although nobody used the screen. */
import type { Page } from 'playwright-core'

type Box = { label: string; x: number; y: number; width: number; height: number }
export type Shift = { control: string; from: string; to: string }

/** Pixels: subpixel layout rounds by less. */
const TOLERANCE = 0.5

/**
 * Compares the boxes of all visible controls and rows before `act` with those afterwards. Controls that disappear or
 * appear are not a shift, but controls that they push are.
 *
 * @param act lets data arrive or time pass, and returns when the screen has it
 * @returns each control that moved or changed its size
 */
export async function measureShift(page: Page, act: () => Promise<unknown>): Promise<Shift[]> {
  await page.evaluate(markControls)
  const before = await page.evaluate(boxesOfMarked)
  await act()
  // Two frames: the first one may still be laid out by the data's arrival.
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  )
  const after = await page.evaluate(boxesOfMarked)
  return Object.entries(before).flatMap(([id, was]) => {
    const is = after[id]
    return is && hasMoved(was, is) ? [{ control: was.label, from: shown(was), to: shown(is) }] : []
  })
}

const hasMoved = (one: Box, other: Box) =>
  (['x', 'y', 'width', 'height'] as const).some(
    (side) => Math.abs(one[side] - other[side]) > TOLERANCE,
  )

const shown = ({ x, y, width, height }: Box) =>
  `${[x, y].map(Math.round).join(', ')} (${[width, height].map(Math.round).join(' × ')})`

/** Runs in the page: gives each control a number that stays with its element. */
function markControls(): void {
  const selector = [
    'a[href], button, input, textarea, select, summary, [tabindex]',
    '[role=row], [role=option], [role=tab], [role=menuitem], tr, li',
  ].join()
  const marked = new Map<Element, string>()
  for (const element of document.querySelectorAll(selector))
    if (element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      marked.set(element, String(marked.size))
  Reflect.set(globalThis, 'markedControls', marked)
}

/** Runs in the page. */
function boxesOfMarked(): Record<string, Box> {
  const marked: Map<Element, string> = Reflect.get(globalThis, 'markedControls')
  const labelOf = (element: Element) => {
    const text = element.getAttribute('aria-label') ?? element.textContent ?? ''
    return `${element.tagName.toLowerCase()} "${text.trim().replace(/\s+/g, ' ').slice(0, 60)}"`
  }
  const boxes = [...marked].flatMap(([element, id]): [string, Box][] => {
    if (!element.isConnected || !element.checkVisibility({ visibilityProperty: true })) return []
    const { x, y, width, height } = element.getBoundingClientRect()
    return [[id, { label: labelOf(element), x, y, width, height }]]
  })
  return Object.fromEntries(boxes)
}
