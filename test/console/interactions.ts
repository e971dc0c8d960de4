/** Measures the time from a press to its paint in the browser. */
import type { Page } from 'playwright-core'

/** Runs in the page. Browsers do not report events below 16 ms. */
export function observe(): void {
  const times: number[] = []
  Reflect.set(globalThis, 'interactions', times)
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (Reflect.get(entry, 'interactionId') > 0) times.push(Math.round(entry.duration))
    }
  })
  observer.observe({
    type: 'event',
    durationThreshold: 16,
    buffered: false,
  } as PerformanceObserverInit)
}

/** Since it was observed, in milliseconds. */
export async function interactionsOf(page: Page) {
  const times = await page.evaluate(() => Reflect.get(globalThis, 'interactions') as number[])
  times.sort((one, other) => one - other)
  return { count: times.length, median: times[times.length >> 1], worst: times.at(-1) }
}
