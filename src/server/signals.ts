/**
 * Signals that stop a server. SIGHUP stops a server with a terminal. Without a terminal it is ignored, because it
 * reloads other daemons, or `nohup` blocks it. Other signals are ignored.
 */
import { isatty } from 'node:tty'

const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor))

export const STOP_SIGNALS: readonly NodeJS.Signals[] = hasTerminal
  ? ['SIGTERM', 'SIGINT', 'SIGHUP']
  : ['SIGTERM', 'SIGINT']

/** Signals that end a process by default. */
export function ignoreOtherSignals(): void {
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const)
    if (!STOP_SIGNALS.includes(signal)) process.on(signal, () => {})
}
