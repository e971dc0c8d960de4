/** Moves the clocks of the keys' worker: time passes, the machine sleeps, or someone sets the clock. */
import type { Page } from 'playwright-core'
import { runBeforeKeysWorker } from './worker_scripts.ts'

export type Shift = {
  /** Milliseconds by which the wall clock is moved. */
  wall?: number
  /** The offset of the monotonic clock, with the timers that come due. */
  running?: number
}

/** Run in front of the worker. */
function controlled() {
  const [wallNow, runningNow] = [Date.now.bind(Date), performance.now.bind(performance)]
  const [set, clear] = [setTimeout, clearTimeout]
  const timers = new Map<number, { at: number; run: () => void }>()
  const shifted = { wall: 0, running: 0 }
  Date.now = () => wallNow() + shifted.wall
  performance.now = () => runningNow() + shifted.running
  const setShifted = (act: () => void, ms = 0) => {
    const run = () => {
      clear(id)
      if (timers.delete(id)) act()
    }
    const id = Number(set(run, ms))
    timers.set(id, { at: performance.now() + ms, run })
    return id
  }
  Object.assign(self, { setTimeout: setShifted })
  Object.assign(self, {
    clearTimeout: (id: number) => {
      timers.delete(id)
      clear(id)
    },
    shiftClock: ({ wall = 0, running = 0 }: Shift) => {
      shifted.wall += wall
      shifted.running += running
      if (running === 0) return
      for (const { at, run } of [...timers.values()]) if (at <= performance.now()) run()
    },
  })
}

/** For all workers that this browser starts from now on. */
export function controlClock(page: Page): Promise<void> {
  return runBeforeKeysWorker(page.context(), async () => `(${controlled})()`)
}

/** The worker that holds the keys of a page. */
export async function keysOf(page: Page) {
  const isKeys = (url: string) => /\/worker-[^/]*\.js$/.test(url)
  return (
    page.workers().find((worker) => isKeys(worker.url())) ??
    page.waitForEvent('worker', (worker) => isKeys(worker.url()))
  )
}

export async function shift(page: Page, by: Shift): Promise<void> {
  const worker = await keysOf(page)
  await worker.evaluate((given) => Reflect.get(self, 'shiftClock')(given), by)
}

export const pass = (page: Page, ms: number) => shift(page, { wall: ms, running: ms })

/** Sends a command to the worker directly, like a script in the page could. Returns the error's code or `done`. */
export async function askWorker(page: Page, name: string, input: unknown = null): Promise<string> {
  const worker = await keysOf(page)
  return worker.evaluate(
    ([name, input]) =>
      new Promise<string>((resolve) => {
        const { postMessage } = self
        const id = -1
        self.postMessage = (message: { id?: number; failure?: { code: string } }) => {
          if (message.id !== id) return postMessage.call(self, message)
          self.postMessage = postMessage
          resolve(message.failure?.code ?? 'done')
        }
        self.onmessage?.(new MessageEvent('message', { data: { id, name, input } }))
      }),
    [name, input] as const,
  )
}
