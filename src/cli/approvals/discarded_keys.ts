/** Keys that were typed before a person could read the request that just appeared. */
import { systemTimers } from '../../core/async/timers.ts'
import type { Host } from '../host.ts'
import { CliError } from '../terminal/cli_error.ts'

const IGNORED_MS = 1_000
const CTRL_C = 3

/** Ignores typed keys for a second, so that the next question reads only later ones. @throws CliError for Ctrl-C */
export async function discardKeys(
  { streams: { stdin } }: Pick<Host, 'streams'>,
  { sleep }: Pick<typeof systemTimers, 'sleep'> = systemTimers,
): Promise<void> {
  const terminal: typeof stdin & { setRawMode?: (isRaw: boolean) => unknown } = stdin
  let isInterrupted = false
  const discard = (keys: Buffer | string) => {
    isInterrupted ||= Buffer.from(keys).includes(CTRL_C)
  }
  // A terminal in its usual mode keeps keys until Enter, and the question would read them.
  terminal.setRawMode?.(true)
  stdin.on('data', discard)
  try {
    await sleep(IGNORED_MS)
  } finally {
    stdin.off('data', discard)
    stdin.pause()
    terminal.setRawMode?.(false)
  }
  if (isInterrupted) throw new CliError('cancelled', 'cancelled')
}
