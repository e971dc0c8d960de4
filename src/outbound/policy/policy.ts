/** Step 6: the policy of each secret. It narrows where its value may go, and never widens. */
import { Fault } from '../../platform/fault.ts'
import { domainMatches, parseDomain } from '../../platform/net/domain.ts'
import type { Policy } from '../../platform/policy.ts'
import type { Placeholder } from '../placeholders.ts'
import { hasOpenPlaceholder, policyPathMatches, type Target } from '../target.ts'
import { isForBatches, methodsAskedFor, namesObjectsInBody } from './override.ts'

type Location = NonNullable<Policy['allowed_locations']>[number]

/** What is asked of the upstream. */
export type AskedRequest = {
  target: Target
  method: string
  /** A header that asks for another method or path than these. */
  override: string | null
  /** Whether its body may hold requests. */
  isMultipart: boolean
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
      objectionToPlace(policy, placeholder) ??
      objectionToOverride(policy, asked) ??
      objectionToObjects(policy, placeholder, asked) ??
      objectionToBatch(policy, asked) ??
      objectionToRequest(policy, placeholder, asked)
    if (objection !== null) {
      throw new Fault('policy_blocked', {
        message: `The policy of the secret ${placeholder.name} ${objection}.`,
      })
    }
  }
}

/** As many of a list as a caller is told, who is shown policies anyway (protocol 6.7). */
const MAX_LISTED = 10

function notPermitted(what: string, field: keyof Policy, permitted: readonly string[]): string {
  const listed = permitted.slice(0, MAX_LISTED).join(', ') || 'none'
  const more = permitted.length > MAX_LISTED ? ', …' : ''
  return `does not permit this ${what} (${field}: ${listed}${more})`
}

function objectionToOverride(
  { allowed_methods, allowed_paths }: Policy,
  { target, override }: AskedRequest,
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
  return null
}

/** A POST whose body says which objects it deletes, what it reads of one, or which requests it stands for. */
function objectionToObjects(
  { allowed_methods, allowed_paths }: Policy,
  { style }: Placeholder,
  { target, method }: AskedRequest,
): string | null {
  if (method !== 'POST' || (allowed_methods ?? allowed_paths) === undefined) return null
  const named = namesObjectsInBody(target.search, style === 'aws_sigv4')
  const isDelete = named === 'delete' && !allowed_paths && allowed_methods?.includes('DELETE')
  const isRead = named === 'select' && (allowed_methods?.includes('GET') ?? true)
  if (named === null || isDelete || isRead) return null
  return 'limits methods or paths, and the body of this request may ask for others'
}

/** What requests a body holds is not judged, so that the very path is to be listed where they may come. */
function objectionToBatch(
  { allowed_methods, allowed_paths }: Policy,
  { target: { path }, method, isMultipart }: AskedRequest,
): string | null {
  if ((allowed_methods ?? allowed_paths) === undefined || allowed_paths?.includes(path)) return null
  const isBatch = isMultipart || (method !== 'GET' && method !== 'HEAD' && isForBatches(path))
  if (!isBatch) return null
  return 'limits methods or paths, and this request may be a batch of others: allowed_paths must list its very path'
}

/** An absent list narrows nothing, an empty one allows nothing. */
function objectionToRequest(
  { allowed_domains, allowed_methods, allowed_paths, allowed_headers }: Policy,
  { header }: Placeholder,
  { target, method }: AskedRequest,
): string | null {
  if (allowed_domains && !allowed_domains.some((text) => isDomainOf(text, target)))
    return notPermitted('host', 'allowed_domains', allowed_domains)
  if (allowed_methods && !allows(allowed_methods, method))
    return notPermitted('method', 'allowed_methods', allowed_methods)
  if (allowed_paths && !allowsPath(allowed_paths, target.path))
    return notPermitted('path', 'allowed_paths', allowed_paths)
  if (header !== '' && allowed_headers?.every((name) => name.toLowerCase() !== header))
    return notPermitted('header', 'allowed_headers', allowed_headers)
  return null
}

function isDomainOf(text: string, { host, port }: Target): boolean {
  const domain = parseDomain(text)
  return domain !== null && domainMatches(domain, host, port)
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
  const locations = policy.allowed_locations ?? DEFAULT_LOCATIONS
  const isAllowed = locations.includes(location)
  if (location !== 'sign')
    return isAllowed ? null : notPermitted('location', 'allowed_locations', locations)
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
