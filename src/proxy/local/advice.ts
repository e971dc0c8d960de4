/** Adds advice to the fault of a local proxy's failed call: the setting or option of this machine that helps. */

import { Fault } from '../../core/fault.ts'
import { MAX_CALL_MS } from '../../core/policy/policy.ts'
import { UnknownName } from '../../outbound/connection/address_lookup.ts'

type Call = { host: string; timeoutMs: number }

export function withAdvice(error: unknown, { host, timeoutMs }: Call): unknown {
  if (!(error instanceof Fault)) return error
  if (error.code === 'upstream_unreachable' && error.cause instanceof UnknownName)
    return explainUnknownHost(error, host)
  // Names the setting of the proxy's environment that ended a call, unless it can be no longer.
  const isOfSetting = error.code === 'upstream_timeout' && timeoutMs < MAX_CALL_MS
  return isOfSetting ? error.withFix({ setting: 'RESOLVER_SILENCE_MS' }) : error
}

/** Hosts that only the resolver's network can resolve are called through the resolver. */
function explainUnknownHost({ code, headers, refusedBy, cause }: Fault, host: string): Fault {
  return new Fault(code, {
    message: `This machine cannot resolve ${host}. Use --remote to call through the resolver, or set RESOLVER_HOSTS.`,
    fix: { setting: 'RESOLVER_HOSTS' },
    refusedBy: refusedBy ?? undefined,
    ...{ headers, cause },
  })
}
