/**
 * Narrowed tokens (protocol 6.3): a token whose grant lists hosts or secrets is worth nothing anywhere else, so a
 * key that an SDK carries to another host is of no use there.
 */
import { Fault } from '../platform/fault.ts'
import { domainMatches, parseDomain } from '../platform/net/domain.ts'
import type { LiveToken } from './tokens.ts'

type Narrowed = Pick<LiveToken, 'hosts' | 'secrets'>

/** Whether the token is for that host, whatever the allowlist says. */
export function coversHost({ hosts }: Narrowed, host: string, port: number): boolean {
  return hosts === null || hosts.some((text) => matches(text, host, port))
}

/** Whether the token is for the secret that is stored under that name. */
export function coversSecret({ secrets }: Narrowed, name: string): boolean {
  return secrets === null || secrets.includes(name)
}

export function isNarrowed({ hosts, secrets }: Narrowed): boolean {
  return hosts !== null || secrets !== null
}

/** @throws Fault `scope_required` */
export function requireHost(token: Narrowed, host: string, port: number): void {
  if (coversHost(token, host, port)) return
  throw outside(`the host ${port === 443 ? host : `${host}:${port}`}`, 'host')
}

export function outsideSecret(name: string): Fault {
  return outside(`the secret ${name}`, 'secret')
}

function outside(what: string, option: string): Fault {
  return new Fault('scope_required', {
    message: `This token is narrowed, and not for ${what}. Run \`cloakroom token issue <agent> --${option} …\` for another one.`,
  })
}

function matches(text: string, host: string, port: number): boolean {
  const domain = parseDomain(text)
  return domain !== null && domainMatches(domain, host, port)
}
