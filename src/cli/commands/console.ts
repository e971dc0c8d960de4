/** `cloakroom console`: the web console from this executable, for a server anywhere. */
import { openLocalConsole } from '../../console/local.ts'
import type { consoleOptions } from '../catalogue/console.ts'
import type { Action } from '../command.ts'
import { listening, portFrom, untilStopped } from '../port.ts'

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

export const openInBrowser: Action<typeof consoleOptions> = async (context, _, options) => {
  const server = await context.server()
  const port = portFrom(options.port)
  const { url, hash, close } = await listening(port, () => openLocalConsole(server, port))
  context.output.record({ url, server, sha256: hash }, url)
  if (options.open !== false && context.output.isTerminal) show(url)
  try {
    return await untilStopped()
  } finally {
    await close()
  }
}

/** Where there is no browser the address is there to be copied. */
function show(url: string): void {
  try {
    const command = [...(OPENERS[process.platform] ?? ['xdg-open']), url]
    Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore'] }).unref()
  } catch {}
}
