/** The items of a grid that are in view. It changes when an item comes into view or leaves, not with every pixel. */
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { type Layout, windowOf } from './layout.ts'
import type { GridProps } from './types.ts'

const MORE_ROWS = 12
/** Before the element is measured. */
const FIRST_ROWS = 30

export function useRowWindow<Row>(
  scroller: RefObject<HTMLElement | null>,
  { tops, items }: Layout<Row>,
  { onEnd, startId, idOf }: Pick<GridProps<Row>, 'onEnd' | 'startId' | 'idOf'>,
) {
  const [shown, setShown] = useState({ from: 0, to: FIRST_ROWS })
  const isStarted = useRef(false)
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element || isStarted.current) return
    isStarted.current = true
    const start = items.findIndex((item) => item.kind === 'row' && idOf(item.row) === startId)
    // In the middle, whatever is before it.
    element.scrollTop = (tops[start] ?? 0) - element.clientHeight / 2
  }, [scroller, tops, items, idOf, startId])
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const look = () => {
      const next = windowOf(tops, element.scrollTop, element.clientHeight, MORE_ROWS)
      setShown((before) => (before.from === next.from && before.to === next.to ? before : next))
    }
    look()
    const resized = new ResizeObserver(look)
    resized.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      resized.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [scroller, tops])
  const isAtEnd = shown.to >= items.length
  useEffect(() => {
    if (isAtEnd && items.length > 0) onEnd?.()
  }, [isAtEnd, items.length, onEnd])
  const to = Math.min(shown.to, items.length)
  return { from: Math.min(shown.from, to), to }
}
