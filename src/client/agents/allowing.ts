/**
 * The one change that would allow a refused call the next time, derived from its audit record. Records are not signed,
 * so a person must review the change before signing it.
 */
import { parseDomain } from '../../core/net/domain.ts'
import {
  callMethods,
  listAllowedLocations,
  type Policy,
  policyLocations,
} from '../../core/policy/policy.ts'
import type { Style } from '../../core/policy/policy_check.ts'

/** The facts of a refused call in its record. */
export type RefusedCall = {
  reason: string | null
  refused_by: { secret: string; rule: string } | null
  method: string | null
  target_domain: string | null
  target_url: string | null
  target_path: string | null
  credential_ref: string | null
  injection_style: string | null
  project_id: string | null
  environment: string | null
  registration_id: string | null
  token_id: string | null
}

type Narrowing = 'allowed_domains' | 'allowed_methods' | 'allowed_paths' | 'allowed_locations'
type At = { projectId: string; environment: string }

export type Allowing =
  | { kind: 'allowlist'; domain: string }
  /** One entry more in one list of the secret's policy. */
  | ({ kind: 'policy'; secret: string; rule: Narrowing; entry: string } & At)
  /** An environment key that an agent's token is missing. */
  | ({ kind: 'grant'; agentId: string; tokenId: string } & At)
  /** No single change is enough: `scope` needs another token, `rule` a review of the policy. */
  | { kind: 'none'; why: 'scope' | 'rule' | 'other' }

export function allowingOf(record: RefusedCall): Allowing {
  switch (record.reason) {
    case 'domain_blocked':
      return allowHost(record)
    case 'policy_blocked':
      return widenPolicy(record)
    case 'key_not_provisioned':
      return grantKey(record)
    case 'scope_required':
      return buildNoAllowing('scope')
    default:
      return buildNoAllowing('other')
  }
}

function buildNoAllowing(why: 'scope' | 'rule' | 'other'): Allowing {
  return { kind: 'none', why }
}

/** With its port, where that is not the usual one. */
function hostOf({ target_url, target_domain }: RefusedCall): string | null {
  const host = URL.parse(target_url ?? '')?.host ?? target_domain ?? ''
  return parseDomain(host)?.text ?? null
}

function allowHost(record: RefusedCall): Allowing {
  const domain = hostOf(record)
  return domain === null ? buildNoAllowing('other') : { kind: 'allowlist', domain }
}

function placeOf({ project_id, environment }: RefusedCall): At | null {
  return project_id && environment ? { projectId: project_id, environment } : null
}

function widenPolicy(record: RefusedCall): Allowing {
  const place = placeOf(record)
  const { refused_by: by } = record
  if (!by || !place) return buildNoAllowing('rule')
  const missing: Partial<Record<string, string | null>> = {
    allowed_domains: hostOf(record),
    allowed_methods: callMethods.find((method) => method === record.method) ?? null,
    allowed_paths: record.target_path,
    allowed_locations: locationOf(record, by.secret),
  }
  const entry = missing[by.rule]
  if (!entry) return buildNoAllowing('rule')
  return { kind: 'policy', ...place, secret: by.secret, rule: by.rule as Narrowing, entry }
}

const SCHEMES: readonly string[] = [
  'hmac_sha256',
  'aws_sigv4',
  'azure_storage',
  'google_jwt',
] satisfies Style[]

/** Null where the secret stood in several places, of which the record does not say which was refused. */
function locationOf(
  { credential_ref, injection_style }: RefusedCall,
  secret: string,
): string | null {
  const styles = (injection_style ?? '').split(',')
  const own = (credential_ref ?? '')
    .split(',')
    .flatMap((name, index) => (name === secret ? (styles[index] ?? []) : []))
  const [style = '', another] = own
  if (another !== undefined) return null
  const location = SCHEMES.includes(style) ? 'sign' : style
  return policyLocations.find((known) => known === location) ?? null
}

function grantKey(record: RefusedCall): Allowing {
  const place = placeOf(record)
  const { registration_id: agentId, token_id: tokenId } = record
  if (!place || !agentId || !tokenId) return buildNoAllowing('other')
  return { kind: 'grant', ...place, agentId, tokenId }
}

/** The policy with the entry. Unchanged if it is already listed, or the list is absent. */
export function addPolicyEntry(
  policy: Policy | null,
  { rule, entry }: { rule: Narrowing; entry: string },
): Policy | null {
  const list: readonly string[] | undefined =
    policy?.[rule] ?? (rule === 'allowed_locations' ? listAllowedLocations(policy) : undefined)
  if (list === undefined || list.includes(entry)) return policy
  return { ...policy, [rule]: [...list, entry] }
}
