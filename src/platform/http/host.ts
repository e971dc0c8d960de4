/**
 * The Host check: requests that name another host than ours are refused before anything else, so
 * that DNS rebinding and poisoned links find nothing here.
 */
import { Fault } from '../fault.ts'

const HOST = /^(?<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/

/**
 * Builds the check for `ALLOWED_HOSTS`: exact names, `.example.com` for a domain with its
 * subdomains, `*` for all. Ports are not compared, but must be some: the runtime makes the URL of a
 * request from its Host.
 */
export function hostCheck(allowed: readonly string[]): (header: string | null) => void {
  const names = allowed.map((name) => name.toLowerCase())
  /** Nearly all requests come with the same one. */
  let accepted: string | undefined
  return (header) => {
    if (header === accepted) return
    const name = HOST.exec(header?.toLowerCase() ?? '')?.groups?.name?.replace(/\.$/, '')
    if (!header || !name || !URL.canParse(`http://${header}`)) throw new Fault('invalid_host')
    if (!names.some((pattern) => matches(pattern, name))) throw new Fault('invalid_host')
    accepted = header
  }
}

function matches(pattern: string, name: string): boolean {
  if (pattern === '*' || pattern === name) return true
  return pattern.startsWith('.') && (name.endsWith(pattern) || name === pattern.slice(1))
}
