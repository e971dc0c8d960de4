/**
 * The runtime reads some variables before our code runs. The server therefore starts itself
 * once more, under the same process id where the system can do that, with an environment in which nothing
 * bends outbound calls, and with settings of the runtime's that only the environment can hold.
 */

import { spawnSync } from 'node:child_process'
import { isCompiled } from './compiled.ts'

export const runtimeSettings = {
  /** Without it, 256 fetches at a time. */
  BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
  /**
   * Keeps compiled code. The collector would discard code that did not run for seconds, and a call after a minute of
   * rest would compile it again, for longer than the rest of the call. A runtime that does not support the setting does
   * not start.
   */
  BUN_JSC_forceCodeBlockLiveness: '1',
} as const

const BENDS_CALLS =
  /^(https?|all|no)_proxy$|^NODE_(OPTIONS|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED|DEBUG)$|^SSL_CERT_(FILE|DIR)$|^SSLKEYLOGFILE$/i

const NAMES_PROXY = /^(https?|all|no)_proxy$/i

/** Returns the log line about variables that name a proxy for outbound calls; null without such variables. */
export function describeIgnoredProxies(env: Record<string, string | undefined>): string | null {
  const names = Object.keys(env).filter((name) => NAMES_PROXY.test(name) && env[name])
  if (names.length === 0) return null
  return `${names.toSorted().join(', ')} ignored: calls go directly to the API's host. No setting routes them through a proxy.`
}

/** Returns the environment that a server should run in. */
export function cleanEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !BENDS_CALLS.test(entry[0]) &&
      (!entry[0].startsWith('BUN_') || entry[0] === 'BUN_INSTALL'),
  )
  return { ...Object.fromEntries(kept), ...runtimeSettings }
}

/** Replaces this process by itself in the clean environment; returns if it runs there already. */
export function enterCleanEnvironment(): void {
  const settings = Object.entries(runtimeSettings)
  if (settings.every(([name, value]) => process.env[name] === value)) return
  const env = cleanEnvironment(process.env)
  if (process.platform !== 'win32') process.execve?.(process.execPath, ownCommand(), env)
  // Windows has no exec: there a second process serves, and this one ends with it.
  const [program = '', ...args] = ownCommand()
  const { status } = spawnSync(program, args, { env, stdio: 'inherit' })
  process.exit(status ?? 1)
}

/** The command line that starts this very program once more, compiled or from source. */
export function ownCommand(): string[] {
  return [process.execPath, ...process.argv.slice(isCompiled ? 2 : 1)]
}
