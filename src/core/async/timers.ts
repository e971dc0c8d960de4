/** Timers as an argument, so that tests move time forward instead of waiting. */

export type PendingTimer = {
  cancel(): void
  /** Starts the whole time again. Only for a timer that is still pending. */
  restart(): void
}

type TimerOptions = {
  /** A background timer does not keep the process running. */
  isBackground?: boolean
}

export type Timers = {
  /** Calls back once, after `ms` milliseconds. */
  setTimer(ms: number, callback: () => void, options?: TimerOptions): PendingTimer
  /** Calls back every `ms` milliseconds until cancelled. A background timer. */
  setRepeating(ms: number, callback: () => void): PendingTimer
  sleep(ms: number): Promise<void>
}

class SystemTimer implements PendingTimer {
  readonly #timer: Timer

  constructor(timer: Timer, isBackground: boolean) {
    this.#timer = timer
    if (isBackground) timer.unref()
  }

  cancel(): void {
    clearTimeout(this.#timer)
  }

  restart(): void {
    this.#timer.refresh()
  }
}

export const systemTimers: Timers = {
  setTimer: (ms, callback, { isBackground = false } = {}) =>
    new SystemTimer(setTimeout(callback, ms), isBackground),
  setRepeating: (ms, callback) => new SystemTimer(setInterval(callback, ms), true),
  // Not Bun.sleep: the console's page uses this too.
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}
