/** The items of a grid that are in view. It changes when an item comes into view or leaves, not with every pixel. */
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { type Layout, type View, windowIn } from './layout.ts'
import type { GridProps } from './types.ts'

/** Before the element is measured. */
const FIRST_VIEW: View = { top: 0, height: 600 }

/**
 * The window follows from what the browser last reported. To read the element again after each change of the rows would
 * have the browser lay them out twice, and render them twice.
 */
export function useRowWindow<Row>(
  scroller: RefObject<HTMLElement | null>,
  { tops, items }: Layout<Row>,
  { onEnd, startId, idOf }: Pick<GridProps<Row>, 'onEnd' | 'startId' | 'idOf'>,
) {
  const [view, setView] = useState(FIRST_VIEW)
  const known = useRef(tops)
  const isStarted = useRef(false)
  useLayoutEffect(() => {
    known.current = tops
    const element = scroller.current
    if (!element || isStarted.current) return
    isStarted.current = true
    const start = items.findIndex((item) => item.kind === 'row' && idOf(item.row) === startId)
    // In the middle, whatever is before it.
    element.scrollTop = (tops[start] ?? 0) - element.clientHeight / 2
  }, [scroller, tops, items, idOf, startId])
  // Without rows, another element may take the grid's place.
  const hasRows = items.length > 0
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element || !hasRows) return
    const look = () => {
      const next = { top: element.scrollTop, height: element.clientHeight }
      setView((before) => (isSameWindow(known.current, before, next) ? before : next))
    }
    look()
    const resized = new ResizeObserver(look)
    resized.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      resized.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [scroller, hasRows])
  const shown = windowIn(tops, view)
  const isAtEnd = shown.to >= items.length
  useEffect(() => {
    if (isAtEnd && hasRows) onEnd?.()
  }, [isAtEnd, hasRows, onEnd])
  return shown
}

function isSameWindow(tops: readonly number[], one: View, other: View): boolean {
  const [before, after] = [windowIn(tops, one), windowIn(tops, other)]
  return before.from === after.from && before.to === after.to
}
