/**
 * Nothing moves that a person aims at: the list stands still while someone pauses it, has a change to sign open, or
 * points at a control. New calls wait behind a counter.
 */
import { createContext, type PointerEvent, useContext, useEffect, useState } from 'react'

/** Stops the list until the returned function is called. */
type Hold = () => () => void

export const HoldContext = createContext<Hold>(() => () => {})

/** Stops the list around this component as long as `isHolding`. */
export function useHold(isHolding: boolean): void {
  const hold = useContext(HoldContext)
  useEffect(() => (isHolding ? hold() : undefined), [hold, isHolding])
}

/** `now` as it was when the list was stopped, and what stops and releases it. */
export function useHeld<T>(now: T, isPaused: boolean) {
  const [holds, setHolds] = useState(0)
  const [aimed, setAimed] = useState<Element | null>(null)
  const [kept, setKept] = useState<{ state: T } | null>(null)
  const [hold] = useState<Hold>(() => () => {
    setHolds((before) => before + 1)
    return () => setHolds((before) => before - 1)
  })
  // No event says that the control under a pointer was removed, as after a press.
  const isHeld = isPaused || aimed?.isConnected === true || holds > 0
  if (isHeld && kept === null) setKept({ state: now })
  if (!isHeld && kept !== null) setKept(null)
  const pointing = {
    onPointerOver: ({ target }: PointerEvent) =>
      setAimed(target instanceof Element ? target.closest('button, a') : null),
    onPointerLeave: () => setAimed(null),
  }
  return { shown: isHeld ? (kept?.state ?? now) : now, isHeld, hold, pointing }
}
