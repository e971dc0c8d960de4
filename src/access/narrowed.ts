/**
 * Narrowed tokens (protocol 6.3): a token whose grant lists hosts or secrets is useless for any other, so it does no
 * harm if an SDK sends it to another host.
 */
import { commandFix, Fault } from '../core/fault.ts'
import { domainMatches, parseDomain } from '../core/net/domain.ts'
import type { LiveToken } from './tokens.ts'

type Narrowed = Pick<LiveToken, 'hosts' | 'secrets'>
type Named = Pick<LiveToken, 'kind' | 'name'>

/** Whether the token covers that host, regardless of the allowlist. */
export function coversHost({ hosts }: Narrowed, host: string, port: number): boolean {
  return hosts === null || hosts.some((text) => matches(text, host, port))
}

/** Whether the token covers the secret with that name. */
export function coversSecret({ secrets }: Narrowed, name: string): boolean {
  return secrets === null || secrets.includes(name)
}

export function isNarrowed({ hosts, secrets, limits }: Narrowed & Pick<LiveToken, 'limits'>) {
  return hosts !== null || secrets !== null || limits !== null
}

/** @throws Fault `scope_required` */
export function requireHost(token: Narrowed & Named, host: string, port: number): void {
  if (coversHost(token, host, port)) return
  throw buildScopeFault(token, 'host', port === 443 ? host : `${host}:${port}`)
}

export function buildSecretScopeFault(token: Named, name: string): Fault {
  return buildScopeFault(token, 'secret', name)
}

function buildScopeFault({ kind, name }: Named, option: 'host' | 'secret', wanted: string): Fault {
  const fix =
    kind === 'agent' ? commandFix('token', 'issue', name, `--${option}`, wanted) : undefined
  return new Fault('scope_required', {
    message: `This token does not allow the ${option} ${wanted}. Create one that does: \`cloakroom token issue <agent> --${option} …\`.`,
    fix,
  })
}

function matches(text: string, host: string, port: number): boolean {
  const domain = parseDomain(text)
  return domain !== null && domainMatches(domain, host, port)
}
