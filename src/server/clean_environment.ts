/**
 * The runtime reads some variables before any code of ours runs. The server therefore starts itself
 * once more, same process id, with an environment in which nothing bends outbound calls, and with the
 * runtime's limit of 256 concurrent fetches lifted.
 */

const HARMLESS_BUN = new Set(['BUN_CONFIG_MAX_HTTP_REQUESTS', 'BUN_INSTALL'])
const BENDS_CALLS =
  /^(https?|all|no)_proxy$|^NODE_(OPTIONS|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED|DEBUG)$|^SSL_CERT_(FILE|DIR)$|^SSLKEYLOGFILE$/i
const MAX_REQUESTS = '65535'

/** The environment that a server should run in. */
export function cleanEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !BENDS_CALLS.test(entry[0]) &&
      (!entry[0].startsWith('BUN_') || HARMLESS_BUN.has(entry[0])),
  )
  return { ...Object.fromEntries(kept), BUN_CONFIG_MAX_HTTP_REQUESTS: MAX_REQUESTS }
}

/** Replaces this process by itself in the clean environment; returns if it runs there already. */
export function enterCleanEnvironment(): void {
  if (process.env.BUN_CONFIG_MAX_HTTP_REQUESTS === MAX_REQUESTS) return
  process.execve?.(process.execPath, ownCommand(), cleanEnvironment(process.env))
}

/** The command line that starts this very program once more, compiled or from source. */
export function ownCommand(): string[] {
  const compiled = import.meta.path.startsWith('/$bunfs/')
  return [process.execPath, ...process.argv.slice(compiled ? 2 : 1)]
}
