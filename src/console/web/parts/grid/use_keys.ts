/** Moves the focus inside a grid, and keeps the grid one Tab stop. */
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef } from 'react'
import { useShortcuts } from '../../shortcuts.ts'
import { texts } from '../../texts/index.ts'
import {
  elementOf,
  isTyping,
  keepOneTabStop,
  rowElementOf,
  rowsMovedBy,
  type Stop,
  stopAt,
  stopsOfRow,
} from './keys.ts'
import type { Layout } from './layout.ts'

type Options<Row> = {
  scroller: RefObject<HTMLElement | null>
  layout: Layout<Row>
  rowHeight: number
  onOpen: ((row: Row) => void) | undefined
  onJump: (() => void) | undefined
}

/** Frames to wait for a row that scrolls into view. */
const FRAMES = 5

export function useGridKeys<Row>({ scroller, layout, rowHeight, onOpen, onJump }: Options<Row>) {
  const active = useRef<Stop>({ row: 0, column: 0, control: 0 })
  useTabStop(scroller, active)
  const last = layout.places.length - 1
  const moveTo = (stop: Stop) => {
    const grid = scroller.current
    if (!grid) return
    active.current = stop
    if (stop.row >= 0) scrollToRow(grid, layout, stop.row, rowHeight)
    focusWhenShown(grid, stop, FRAMES)
  }
  useEntrance(() => moveTo(active.current))
  const moveRows = (from: Stop, by: number) =>
    moveTo({ ...from, row: Math.min(last, Math.max(-1, from.row + by)) })
  const openUnlessControl = (target: Element, { row }: Stop): boolean => {
    const item = layout.items[layout.places[row] ?? -1]
    if (item?.kind !== 'row' || target.closest('button, a, input')) return false
    onOpen?.(item.row)
    return true
  }
  const toEdge = (event: KeyboardEvent, from: Stop) => {
    const isEnd = event.key === 'End'
    if (isEnd && onJump) onJump()
    else moveTo({ ...from, row: isEnd ? last : 0 })
  }
  const handle = (grid: HTMLElement, event: KeyboardEvent, from: Stop): boolean => {
    const { key, target } = event
    const rows = event.ctrlKey ? null : rowsMovedBy(key, pageRows(grid, rowHeight))
    if (rows !== null) moveRows(from, rows)
    else if (SIDEWAYS[key]) moveSideways(grid, from, SIDEWAYS[key])
    else if (key === 'Home' || key === 'End') toEdge(event, from)
    else return key === 'Enter' && openUnlessControl(target as Element, from)
    return true
  }
  return (event: KeyboardEvent<HTMLElement>) => {
    const grid = scroller.current
    if (!grid || isTyping(event.target) || event.altKey || event.metaKey) return
    const from = stopAt(event.target as Element) ?? active.current
    if (handle(grid, event, from)) event.preventDefault()
  }
}

/** J and K lead to the grid from elsewhere on the screen. Inside, they move between its rows. */
function useEntrance(enter: () => void): void {
  const latest = useRef(enter)
  useEffect(() => {
    latest.current = enter
  })
  const shortcuts = useMemo(() => {
    const { next, previous } = texts.common.shortcuts
    const act = () => latest.current()
    return [
      { keys: 'j', label: next, act },
      { keys: 'k', label: previous, act },
    ]
  }, [])
  useShortcuts(shortcuts)
}

const SIDEWAYS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 }

/** The element that has the focus last stays the one that Tab leads to. */
function useTabStop(scroller: RefObject<HTMLElement | null>, active: RefObject<Stop>): void {
  useEffect(() => {
    const grid = scroller.current
    if (!grid) return
    const keep = () => keepOneTabStop(grid, active.current)
    const follow = ({ target }: FocusEvent) => {
      active.current = stopAt(target as Element) ?? active.current
      keep()
    }
    keep()
    const observer = new MutationObserver(keep)
    observer.observe(grid, { childList: true, subtree: true })
    grid.addEventListener('focusin', follow)
    return () => {
      observer.disconnect()
      grid.removeEventListener('focusin', follow)
    }
  })
}

function pageRows(grid: HTMLElement, rowHeight: number): number {
  return Math.max(1, Math.floor(grid.clientHeight / rowHeight) - 2)
}

function moveSideways(grid: HTMLElement, from: Stop, by: number): void {
  const row = rowElementOf(grid, from.row)
  const element = elementOf(grid, from)
  if (!row || !element) return
  const stops = stopsOfRow(row)
  stops[Math.min(stops.length - 1, Math.max(0, stops.indexOf(element) + by))]?.focus()
}

function scrollToRow<Row>(
  grid: HTMLElement,
  { tops, places }: Layout<Row>,
  row: number,
  rowHeight: number,
): void {
  const header = grid.querySelector<HTMLElement>('[data-row="-1"]')?.offsetHeight ?? 0
  const top = tops[places[row] ?? 0] ?? 0
  const view = grid.clientHeight - header
  if (top < grid.scrollTop) grid.scrollTop = top
  else if (top + rowHeight > grid.scrollTop + view) grid.scrollTop = top + rowHeight - view
}

/** A row that was out of view is in the page a frame later. */
function focusWhenShown(grid: HTMLElement, stop: Stop, frames: number): void {
  const element = elementOf(grid, stop)
  if (element) element.focus({ preventScroll: true })
  else if (frames > 0) requestAnimationFrame(() => focusWhenShown(grid, stop, frames - 1))
}
