/**
 * Keeps a list still while the user pauses it, reads in the inspector, scrolls, or points to it. New entries wait behind
 * a counter.
 */
import { type PointerEvent, type UIEvent, useState } from 'react'

/**
 * `now` as it was when the hold began. `isReady` is false until there is something to hold. `refresh` shows the newest
 * state once, and stays paused.
 */
export function useHeld<T>(now: T, isHeld: boolean, isReady: boolean) {
  const [kept, setKept] = useState<{ state: T } | null>(null)
  if (isHeld && isReady && kept === null) setKept({ state: now })
  if (!isHeld && kept !== null) setKept(null)
  return { shown: isHeld && kept ? kept.state : now, refresh: () => setKept(null) }
}

/** Whether a list is scrolled or pointed at. `watching` goes to the element around it. The focus needs no hold: it moves with its row. */
export function useAttention() {
  const [isPointed, setPointed] = useState(false)
  const [isScrolled, setScrolled] = useState(false)
  const watching = {
    onPointerEnter: ({ pointerType }: PointerEvent) => setPointed(pointerType === 'mouse'),
    onPointerLeave: () => setPointed(false),
    onScrollCapture: ({ target }: UIEvent) => {
      if (target instanceof Element && target.role === 'grid') setScrolled(target.scrollTop > 0)
    },
  }
  return { hasAttention: isPointed || isScrolled, watching }
}
