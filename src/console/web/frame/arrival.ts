/**
 * A screen that is shown has a title in the tab, and takes the focus: who does not see the page hears where they
 * are. A field that wants the focus itself keeps it.
 */
import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { texts } from '../texts/index.ts'

/** `state` is what else is another screen at the same address. The heading may come after what it is over is read. */
export function useArrival(state: string): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const isFirst = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another screen is another arrival.
  useEffect(() => {
    const before = document.activeElement
    document.getElementById('content')?.scrollTo(0, 0)
    // Who opens the page begins at its start.
    let isGreeted = path === undefined || isFirst.current
    if (path !== undefined) isFirst.current = false
    const look = () => {
      const heading = document.querySelector('h1')
      const { appName } = texts.common
      document.title = heading ? `${heading.textContent} · ${appName}` : appName
      if (isGreeted || !heading) return
      isGreeted = true
      const { activeElement } = document
      if (activeElement !== before && activeElement !== document.body) return
      heading.tabIndex = -1
      heading.focus({ preventScroll: true })
    }
    const observer = new MutationObserver(look)
    observer.observe(document.body, { childList: true, subtree: true, characterData: true })
    look()
    return () => observer.disconnect()
  }, [path, state])
}
