/**
 * Judges a call by a secret's policy (protocol 5.5), as far as the call is known. It has no access to values or the
 * network. The resolver uses it, and so does a trial of a policy against recorded calls.
 */
import { domainMatches, parseDomain } from '../net/domain.ts'
import { type Objection, objectNotPermitted } from './objection.ts'
import type { AskedOperations } from './operations.ts'
import { objectionToOperations, selectLimitedMethods } from './operations_check.ts'
import { isForBatches, methodsAskedFor, namesObjectsInBody } from './override.ts'
import type { AskedMethods } from './override_parts.ts'
import { hasOpenPlaceholder, policyPathMatches } from './path.ts'
import { isHeld, listAllowedLocations, type Policy, policyLocations } from './policy.ts'

type Location = NonNullable<Policy['allowed_locations']>[number]

/** The place of a secret in a call. A signature's place is its scheme. */
export type Style =
  | Exclude<Location, 'sign'>
  | 'hmac_sha256'
  | 'aws_sigv4'
  | 'azure_storage'
  | 'google_jwt'

/** One place of a secret; `header` is the name of its header in lower case, empty for other places. */
export type JudgedPlace = {
  style: Style
  header: string
  /** The text that the secret signs. */
  template?: string
  isForeign?: boolean
}

/** The parts of a request that policies check. */
export type JudgedRequest = {
  target: { host: string; port: number; path: string; search: string }
  method: string
  /** A header that requests another method or path than these. */
  override: string | null
  /** Methods, in upper case, that the body requests instead of the request's method, or why they cannot be read. */
  bodyMethods?: AskedMethods
  /** Requested operations of GraphQL and JSON-RPC; absent for a record of a call. */
  operations?: AskedOperations
  /** Whether its body may hold requests. */
  isMultipart: boolean
}

/** The first objection, if there is one. */
export function objectionTo(
  policy: Policy,
  place: JudgedPlace,
  asked: JudgedRequest,
): Objection | null {
  return (
    objectionToSignature(policy, place) ??
    objectionToPlace(policy, place) ??
    objectionToOverride(policy, asked) ??
    objectionToObjects(policy, place, asked) ??
    objectionToBatch(policy, asked) ??
    objectionToRequest(policy, place, asked) ??
    objectionToOperations(policy, asked.target.path, asked)
  )
}

/** A call as the audit has it. */
export type RecordedCall = { method: string; target_url: string; style: Style }

/**
 * Checks a recorded call. Records have no headers, queries, templates or bodies, so the rules for these are not
 * checked.
 */
export function objectionToRecorded(
  policy: Policy,
  { method, target_url, style }: RecordedCall,
): Objection | null {
  const url = URL.parse(target_url)
  if (url === null) return null
  const port = url.port === '' ? 443 : Number(url.port)
  const target = { host: url.hostname, port, path: url.pathname, search: '' }
  const asked = { target, method, override: null, isMultipart: false }
  return objectionTo(policy, { style, header: '' }, asked)
}

function objectionToOverride(policy: Policy, request: JudgedRequest): Objection | null {
  const allowed_methods = selectLimitedMethods(policy)
  const { allowed_paths } = policy
  const { target, override } = request
  if ((allowed_methods ?? allowed_paths) !== undefined && override !== null) {
    const text = 'limits methods or paths, and a header of this request may override them'
    return { rule: 'override', text }
  }
  if (
    allowed_methods &&
    methodsAskedFor(target.search).some((name) => !allows(allowed_methods, name))
  ) {
    const text = 'limits methods, and a query parameter of this request may override them'
    return { rule: 'override', text }
  }
  if (!allowed_methods) return null
  const { bodyMethods = [] } = request
  const text = 'limits methods, and the body of this request may override them'
  if ('unread' in bodyMethods) return { rule: 'override', text: `${text}: ${bodyMethods.unread}` }
  const isAllowed = bodyMethods.every((name) => allows(allowed_methods, name))
  return isAllowed ? null : { rule: 'override', text }
}

/** Refuses a POST with a body that names objects to delete, a query on an object, or further requests. */
function objectionToObjects(
  policy: Policy,
  { style }: JudgedPlace,
  { target, method }: JudgedRequest,
): Objection | null {
  const allowed_methods = selectLimitedMethods(policy)
  const { allowed_paths } = policy
  if (method !== 'POST' || (allowed_methods ?? allowed_paths) === undefined) return null
  const named = namesObjectsInBody(target.search, style === 'aws_sigv4')
  const isDelete = named === 'delete' && !allowed_paths && allowed_methods?.includes('DELETE')
  const isRead = named === 'select' && (allowed_methods?.includes('GET') ?? true)
  if (named === null || isDelete || isRead) return null
  const text = 'limits methods or paths, and the body of this request may name other objects'
  return { rule: 'objects', text }
}

/** A batch's inner requests are not checked, so the policy must list the batch's exact path. */
function objectionToBatch(
  policy: Policy,
  { target: { path }, method, isMultipart }: JudgedRequest,
): Objection | null {
  const allowed_methods = selectLimitedMethods(policy)
  const { allowed_paths } = policy
  if ((allowed_methods ?? allowed_paths) === undefined || allowed_paths?.includes(path)) return null
  const isBatch = isMultipart || (method !== 'GET' && method !== 'HEAD' && isForBatches(path))
  if (!isBatch) return null
  const text =
    'limits methods or paths, and this request may be a batch: list exactly this path in allowed_paths'
  return { rule: 'batch', text }
}

/** An absent list narrows nothing, an empty one allows nothing. */
function objectionToRequest(
  { allowed_domains, allowed_methods, allowed_paths, allowed_headers }: Policy,
  { header }: JudgedPlace,
  { target, method }: JudgedRequest,
): Objection | null {
  if (allowed_domains && !allowed_domains.some((text) => isDomainOf(text, target)))
    return objectNotPermitted('host', 'allowed_domains', allowed_domains)
  if (allowed_methods && !allows(allowed_methods, method))
    return objectNotPermitted('method', 'allowed_methods', allowed_methods)
  if (allowed_paths && !allowsPath(allowed_paths, target.path))
    return objectNotPermitted('path', 'allowed_paths', allowed_paths)
  if (header !== '' && allowed_headers?.every((name) => name.toLowerCase() !== header))
    return objectNotPermitted('header', 'allowed_headers', allowed_headers)
  return null
}

function isDomainOf(text: string, { host, port }: JudgedRequest['target']): boolean {
  const domain = parseDomain(text)
  return domain !== null && domainMatches(domain, host, port)
}

function allowsPath(prefixes: readonly string[], path: string): boolean {
  return !hasOpenPlaceholder(path) && prefixes.some((prefix) => policyPathMatches(prefix, path))
}

function allows(methods: readonly string[], method: string): boolean {
  return methods.includes(method)
}

function objectionToSignature(policy: Policy, { style }: JudgedPlace): Objection | null {
  if (!isHeld(policy) || !isSigning(style)) return null
  return {
    rule: 'approval',
    text: 'requires approval for each use, and such secrets cannot sign',
  }
}

function objectionToPlace(
  policy: Policy,
  { style, template, isForeign }: JudgedPlace,
): Objection | null {
  if (isForeign && policy.allowed_domains === undefined) {
    const text =
      'lists no domains, and a signature for this host would also be valid for another API'
    return { rule: 'allowed_domains', text }
  }
  if (policy.kind === 'aws_role' && style !== 'aws_sigv4') {
    const text = 'has the kind aws_role, whose keys can only sign AWS requests'
    return { rule: 'allowed_locations', text }
  }
  const location = locationOf(style)
  const locations = listAllowedLocations(policy)
  const isAllowed = locations.includes(location)
  if (location !== 'sign')
    return isAllowed ? null : objectNotPermitted('location', 'allowed_locations', locations)
  if (!isAllowed) {
    const text = 'does not permit signing: its allowed_locations do not list sign'
    return { rule: 'allowed_locations', text }
  }
  if (template === undefined || (policy.sign_templates?.includes(template) ?? true)) return null
  return { rule: 'sign_templates', text: 'does not permit signing this template' }
}

/**
 * Returns the location that a style needs. An HMAC over any text can impersonate the secret, so it is a separate
 * location. A vendor scheme's signature is valid for its API alone and appears in a header, so it needs `header`.
 */
function locationOf(style: Style): Location {
  if (style === 'hmac_sha256') return 'sign'
  return isSigning(style) ? 'header' : style
}

function isSigning(style: Style): style is Exclude<Style, Location> {
  return !(policyLocations as readonly string[]).includes(style)
}
