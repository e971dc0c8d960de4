/** Stores a root as an ordinary secret, and sees to the hosts that it needs. */
import { domainOf } from '../../client/connect/domain_of.ts'
import { utf8 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import type { DerivedKind, Policy } from '../../core/policy/policy.ts'
import { endpointOf } from '../../derivation/derivation.ts'
import { readRoot } from '../../derivation/root.ts'
import type { Context } from '../context.ts'
import type { ProjectScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'
import { ROOT_HINT } from '../values/sealing.ts'
import { store } from '../values/storing.ts'
import { settleHosts } from './root_hosts.ts'

export type NewRoot = {
  key: string
  /** The JSON of 13.1. */
  value: string
  policy: Policy & { kind: DerivedKind }
  expectedVersion: number
}

/** @throws CliError for an invalid root of this kind; it names the field, not the value */
export function demandRoot(kind: DerivedKind, key: string, value: string) {
  try {
    return readRoot(kind, utf8(value), key)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new CliError('unusable_root', error.message, ROOT_HINT)
  }
}

export async function storeRoot(
  context: Context,
  scope: ProjectScope,
  { key, value, policy, expectedVersion }: NewRoot,
  options: { yes: boolean | undefined; allow: boolean | undefined },
): Promise<void> {
  const root = demandRoot(policy.kind, key, value)
  await store(context, scope, [{ key, value, policy, expectedVersion }], options)
  const hosts = [domainOf(endpointOf(root).href), ...(policy.allowed_domains ?? [])]
  const { allowed, missing } = await settleHosts(context, scope, hosts, options.allow === true)
  const place = `${scope.project.name}/${scope.environment}`
  context.output.done(`${key} is connected in ${place}.`, {
    key,
    environment: scope.environment,
    kind: policy.kind,
    hosts,
    allowed,
    missing,
  })
}
