/** Step 6: the policy of each secret. It narrows where its value may go, and never widens. */
import { Fault } from '../platform/fault.ts'
import { domainMatches, parseDomain } from '../platform/net/domain.ts'
import type { Policy } from '../platform/policy.ts'
import type { Placeholder } from './placeholders.ts'
import { policyPathMatches, type Target } from './target.ts'

type Location = NonNullable<Policy['allowed_locations']>[number]

/** Where a secret may stand whose policy does not say (protocol 5.5). */
const DEFAULT_LOCATIONS: readonly Location[] = ['header', 'basic', 'env']

/** @throws Fault `policy_blocked` */
export function checkPolicies(
  secrets: ReadonlyMap<string, { policy: Policy | null }>,
  placeholders: readonly Placeholder[],
  target: Target,
  method: string,
): void {
  for (const placeholder of placeholders) {
    const policy = secrets.get(placeholder.name)?.policy ?? null
    if (policy !== null && !permits(policy, placeholder, target, method)) {
      throw new Fault('policy_blocked', {
        message: `The policy of the secret ${placeholder.name} does not permit this request.`,
      })
    }
  }
}

/** An absent list narrows nothing, an empty one allows nothing. */
function permits(
  policy: Policy,
  { style, header }: Placeholder,
  target: Target,
  method: string,
): boolean {
  const { allowed_domains, allowed_methods, allowed_paths, allowed_headers, allowed_locations } =
    policy
  const domains = allowed_domains?.map((text) => parseDomain(text))
  return (
    (domains?.some((domain) => domain && domainMatches(domain, target.host, target.port)) ??
      true) &&
    (allowed_methods?.some((allowed) => allowed === method) ?? true) &&
    (allowed_paths?.some((prefix) => policyPathMatches(prefix, target.path)) ?? true) &&
    (header === '' || (allowed_headers?.some((name) => name.toLowerCase() === header) ?? true)) &&
    (allowed_locations ?? DEFAULT_LOCATIONS).includes(locationOf(style))
  )
}

/** A signature shows in a header, so that is where its secret must be allowed. */
function locationOf(style: Placeholder['style']): Location {
  return style === 'hmac_sha256' || style === 'aws_sigv4' ? 'header' : style
}
