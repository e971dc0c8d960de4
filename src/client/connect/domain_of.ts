/** Hosts in the syntax of the allowlist. */
import { parseDomain } from '../../core/net/domain.ts'

/** host[:port] of an https address. */
export function domainOf(address: string): string {
  const { host } = new URL(address)
  return parseDomain(host)?.text ?? host
}
