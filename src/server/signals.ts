/**
 * What asks a server to stop. A hang-up does where there is a terminal that disappears; without one it is what reloads
 * other daemons, or what `nohup` blocks, and ends nothing. Nor do signals that mean nothing to us.
 */
import { isatty } from 'node:tty'

const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor))

export const STOP_SIGNALS: readonly NodeJS.Signals[] = hasTerminal
  ? ['SIGTERM', 'SIGINT', 'SIGHUP']
  : ['SIGTERM', 'SIGINT']

/** Their default would end the process. */
export function ignoreOtherSignals(): void {
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const)
    if (!STOP_SIGNALS.includes(signal)) process.on(signal, () => {})
}
