/** Step 6: the policy of each secret. It narrows where its value may go, and never widens. */
import { Fault } from '../../platform/fault.ts'
import { domainMatches, parseDomain } from '../../platform/net/domain.ts'
import type { Policy } from '../../platform/policy.ts'
import type { Placeholder } from '../placeholders.ts'
import { hasOpenPlaceholder, policyPathMatches, type Target } from '../target.ts'
import { methodsAskedFor } from './override.ts'

type Location = NonNullable<Policy['allowed_locations']>[number]

/** What is asked of the upstream. */
export type AskedRequest = {
  target: Target
  method: string
  /** A header that asks for another method or path than these. */
  override: string | null
}

/** Where a secret may stand whose policy does not say (protocol 5.5). */
const DEFAULT_LOCATIONS: readonly Location[] = ['header', 'basic', 'env']

/** @throws Fault `policy_blocked` */
export function checkPolicies(
  secrets: ReadonlyMap<string, { policy: Policy | null }>,
  placeholders: readonly Placeholder[],
  asked: AskedRequest,
): void {
  for (const placeholder of placeholders) {
    const policy = secrets.get(placeholder.name)?.policy ?? {}
    const objection =
      objectionToPlace(policy, placeholder) ?? objectionToRequest(policy, placeholder, asked)
    if (objection !== null) {
      throw new Fault('policy_blocked', {
        message: `The policy of the secret ${placeholder.name} ${objection}.`,
      })
    }
  }
}

const NOT_PERMITTED = 'does not permit this request'

/** An absent list narrows nothing, an empty one allows nothing. */
function objectionToRequest(
  { allowed_domains, allowed_methods, allowed_paths, allowed_headers }: Policy,
  { header }: Placeholder,
  { target, method, override }: AskedRequest,
): string | null {
  if ((allowed_methods ?? allowed_paths) !== undefined && override !== null) {
    return 'limits methods or paths, and a header of this request may override them'
  }
  if (
    allowed_methods &&
    methodsAskedFor(target.search).some((name) => !allows(allowed_methods, name))
  ) {
    return 'limits methods, and a query parameter of this request may override them'
  }
  const domains = allowed_domains?.map((text) => parseDomain(text))
  const isPermitted =
    (domains?.some((domain) => domain && domainMatches(domain, target.host, target.port)) ??
      true) &&
    (allowed_methods === undefined || allows(allowed_methods, method)) &&
    (allowed_paths === undefined || allowsPath(allowed_paths, target.path)) &&
    (header === '' || (allowed_headers?.some((name) => name.toLowerCase() === header) ?? true))
  return isPermitted ? null : NOT_PERMITTED
}

function allowsPath(prefixes: readonly string[], path: string): boolean {
  return !hasOpenPlaceholder(path) && prefixes.some((prefix) => policyPathMatches(prefix, path))
}

function allows(methods: readonly string[], method: string): boolean {
  return methods.includes(method)
}

function objectionToPlace(
  policy: Policy,
  { style, template, isForeign }: Placeholder,
): string | null {
  if (isForeign && policy.allowed_domains === undefined) {
    return 'lists no domains, and what is signed for this host would be good at that of the API'
  }
  const location = locationOf(style)
  const isAllowed = (policy.allowed_locations ?? DEFAULT_LOCATIONS).includes(location)
  if (location !== 'sign') return isAllowed ? null : NOT_PERMITTED
  if (!isAllowed) return 'does not permit signing: its allowed_locations do not list sign'
  if (template === undefined || (policy.sign_templates?.includes(template) ?? true)) return null
  return 'does not permit signing this template'
}

/**
 * Who has an HMAC of any text can pass for the secret, so that is a place of its own. A signature of a
 * vendor's scheme is good for its API alone; it shows in a header, and there its secrets must be allowed.
 */
function locationOf(style: Placeholder['style']): Location {
  if (style === 'hmac_sha256') return 'sign'
  const isScheme = style === 'aws_sigv4' || style === 'azure_storage' || style === 'google_jwt'
  return isScheme ? 'header' : style
}
