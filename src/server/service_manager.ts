/**
 * Notifies systemd of a unit with `Type=notify` (sd_notify(3)) through its own program: the runtime has no
 * sockets for datagrams on paths.
 */
import { HelperFailed, runHelper } from '../core/helper_program.ts'
import type { Log } from '../core/log.ts'

const LIMIT_MS = 5_000

/** Sends a state such as `READY=1`, if a service manager has requested it. */
export async function notifyServiceManager(state: string, log: Log): Promise<void> {
  if (process.env.NOTIFY_SOCKET === undefined) return
  try {
    const { code } = await runHelper(['systemd-notify', `--pid=${process.pid}`, state], {
      limitMs: LIMIT_MS,
    })
    if (code !== 0) log.warning('systemd was not notified', { state, reason: `exit code ${code}` })
  } catch (error) {
    if (!(error instanceof HelperFailed)) throw error
    log.warning('systemd was not notified', { state, reason: error.message })
  }
}
