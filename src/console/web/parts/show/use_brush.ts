/** Chooses days of a chart: a pointer is drawn over them, or arrow keys move and Shift extends. */
import { type KeyboardEvent, type PointerEvent, useState } from 'react'

/** Both are indexes of days and belong to the range. */
type Range = { anchor: number; focus: number }

const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, Home: -1000, End: 1000 }

export function useBrush(
  count: number,
  slots: number,
  onChosen: (from: number, to: number) => void,
) {
  const [range, setRange] = useState<Range | null>(null)
  const clampIndex = (index: number) => Math.min(count - 1, Math.max(0, index))
  const indexAt = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return clampIndex(Math.floor(((clientX - left) / width) * slots))
  }
  const choose = ({ anchor, focus }: Range) =>
    onChosen(Math.min(anchor, focus), Math.max(anchor, focus))
  const pointer = {
    onPointerDown: (event: PointerEvent) => {
      event.currentTarget.setPointerCapture(event.pointerId)
      const index = indexAt(event)
      setRange({ anchor: index, focus: index })
    },
    onPointerMove: (event: PointerEvent) => {
      if (range && event.buttons === 1) setRange({ ...range, focus: indexAt(event) })
    },
    onPointerUp: (event: PointerEvent) => {
      if (range) chooseAndLeave({ ...range, focus: indexAt(event) })
    },
    onPointerCancel: () => setRange(null),
  }
  /** The chart may have other days then. */
  const chooseAndLeave = (chosen: Range) => {
    setRange(null)
    choose(chosen)
  }
  const last = { anchor: count - 1, focus: count - 1 }
  const move = (step: number, isExtended: boolean) => {
    const focus = range ? clampIndex(range.focus + step) : last.focus
    setRange({ anchor: isExtended && range ? range.anchor : focus, focus })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step !== undefined) move(step, event.shiftKey)
    else if (event.key === 'Enter') chooseAndLeave(range ?? last)
    else if (event.key === 'Escape' && range) setRange(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return { range, pointer, onKeyDown, leave: () => setRange(null) }
}
