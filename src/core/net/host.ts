/**
 * The Host check: requests for another host than this server's are refused before anything else, so that DNS rebinding
 * and poisoned links fail.
 */
import type { Clock } from '../clock.ts'
import { Fault } from '../fault.ts'
import type { Log } from '../log.ts'

const HOST = /^(?<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/

/** Characters; a name of DNS has no more. */
const LONGEST_NAME = 253

/**
 * Builds the check for `ALLOWED_HOSTS`: exact names, `.example.com` for a domain with its
 * subdomains, `*` for all. Ports are not compared, but must be some: the runtime makes the URL of a
 * request from its Host. `onRefused` receives the name if it is well-formed.
 */
export function hostCheck(
  allowed: readonly string[],
  onRefused: (name: string | null) => void = () => {},
): (header: string | null) => void {
  const names = allowed.map((name) => name.toLowerCase())
  /** The last accepted header, which nearly all requests share. */
  let accepted: string | undefined
  return (header) => {
    if (header === accepted) return
    const name = nameIn(header)
    if (!header || !name || !names.some((pattern) => matches(pattern, name))) {
      onRefused(name)
      throw new Fault('invalid_host')
    }
    accepted = header
  }
}

/** Returns the name alone, in small letters; `null` if the header is missing or malformed. */
function nameIn(header: string | null): string | null {
  const name = HOST.exec(header?.toLowerCase() ?? '')?.groups?.name?.replace(/\.$/, '')
  return name && URL.canParse(`http://${header}`) ? name : null
}

function matches(pattern: string, name: string): boolean {
  if (pattern === '*' || pattern === name) return true
  return pattern.startsWith('.') && (name.endsWith(pattern) || name === pattern.slice(1))
}

/** Milliseconds in which refusals have one line in the log. */
const LOGGED_MS = 60_000

/** Logs refused names: the first immediately, then one line a minute with the count since the previous one. */
export function logRefusedHosts(log: Log, clock: Clock): (name: string | null) => void {
  let [count, next] = [0, 0]
  return (name) => {
    count += 1
    const now = clock.now()
    if (now < next) return
    const host = name !== null && name.length <= LONGEST_NAME ? name : null
    log.warning('a request was refused because its host is not in ALLOWED_HOSTS', { host, count })
    count = 0
    next = now + LOGGED_MS
  }
}
