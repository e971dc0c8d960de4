/** The hosts that a connection needs on the allowlist. */
import { allowHosts, listUncoveredHosts } from '../../../../../client/actions/allowlist.ts'
import { domainOf } from '../../../../../client/connect/domain_of.ts'
import type { EnvironmentPlace } from '../../../../../client/environment.ts'
import type { Policy } from '../../../../../core/policy/policy.ts'
import { failureFrom } from '../../failure.ts'

/** Runs after the secret is stored, so a failure here does not fail the connection. */
export async function reviewHosts(
  place: EnvironmentPlace,
  root: string,
  { allowed_domains = [] }: Policy,
  allow: boolean,
) {
  const { token_url } = JSON.parse(root) as { token_url: string }
  const hosts = [domainOf(token_url), ...allowed_domains]
  try {
    const missing = await listUncoveredHosts(place, hosts)
    if (!allow || missing.length === 0) return { hosts, missing, failure: null }
    await allowHosts(place, missing)
    return { hosts, missing: [], failure: null }
  } catch (error) {
    return { hosts, missing: hosts, failure: failureFrom(error) }
  }
}
