/**
 * What systemd is told of a unit with `Type=notify` (sd_notify(3)), by its own program: the runtime has no
 * sockets for datagrams on paths.
 */
import type { Log } from '../platform/log.ts'

/** Tells a state such as `READY=1`; nothing where no manager asked for it. */
export async function tellServiceManager(state: string, log: Log): Promise<void> {
  if (process.env.NOTIFY_SOCKET === undefined) return
  try {
    const command = ['systemd-notify', `--pid=${process.pid}`, state]
    const told = Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore'] })
    if ((await told.exited) === 0) return
  } catch {
    // It is not installed.
  }
  log.warning('systemd was not told', { state })
}
