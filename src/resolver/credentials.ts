/**
 * Steps 4 to 6 of the resolver: from names to values. What a token may use is decided here by its
 * scope, by the envelopes it was given, and by each secret's own policy.
 */
import { environmentKeyOf } from '../access/environment_key.ts'
import type { KeyCache } from '../access/keys.ts'
import type { Snapshot, SnapshotCache } from '../access/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import type { Call } from '../outbound/call.ts'
import type { Placeholder } from '../outbound/placeholders.ts'
import { policyPathMatches, type Target } from '../outbound/target.ts'
import { bindingOf, openBoundValue, type SealedSecret } from '../platform/crypto/secret_value.ts'
import { Fault } from '../platform/fault.ts'
import { domainMatches, parseDomain } from '../platform/net/domain.ts'
import type { Policy } from '../platform/policy.ts'
import type { Secret } from '../platform/secret.ts'

export type Scope = { projectId: string | null; environment: string }

/** Step 5. @throws Fault `scope_required` for a call that names another scope than its token has */
export function scopeOf(token: LiveToken, call: Pick<Call, 'projectId' | 'environment'>): Scope {
  const contradicts = (own: string | null, named: string | null) =>
    own !== null && named !== null && own !== named
  if (
    contradicts(token.projectId, call.projectId) ||
    contradicts(token.environment, call.environment)
  ) {
    throw new Fault('scope_required')
  }
  return {
    projectId: token.projectId ?? call.projectId,
    environment: token.environment ?? call.environment ?? 'development',
  }
}

/**
 * Step 4: the sealed secrets that the placeholders name.
 *
 * @throws Fault `unknown_secret`, `ambiguous_secret`
 */
export async function findSecrets(
  snapshots: SnapshotCache,
  snapshot: Snapshot,
  scope: Scope,
  placeholders: readonly Placeholder[],
): Promise<Map<string, SealedSecret>> {
  const names = [...new Set(placeholders.map(({ name }) => name))]
  if (names.length === 0) return new Map()
  const candidates = await snapshots.secrets(snapshot, scope.environment, names)
  const inScope = candidates.filter(
    ({ projectId }) => scope.projectId === null || projectId === scope.projectId,
  )
  return new Map(names.map((name) => [name, only(name, inScope)]))
}

/**
 * Of placeholders outside of headers those that count: where a secret of the name exists in the scope
 * and its policy lists the location. The rest is text.
 */
export async function acceptLocations(
  snapshots: SnapshotCache,
  snapshot: Snapshot,
  scope: Scope,
  candidates: readonly Placeholder[],
): Promise<Placeholder[]> {
  const accepted: Placeholder[] = []
  for (const candidate of candidates) {
    const stored = await snapshots.secrets(snapshot, scope.environment, [candidate.name])
    const inScope = stored.filter(
      ({ projectId }) => scope.projectId === null || projectId === scope.projectId,
    )
    const permitted = inScope.some(({ policy }) =>
      policy?.allowed_locations?.includes(candidate.style as never),
    )
    if (permitted) accepted.push(candidate)
  }
  return accepted
}

function only(name: string, candidates: readonly SealedSecret[]): SealedSecret {
  const [found, another] = candidates.filter(({ key }) => key === name)
  if (!found)
    throw new Fault('unknown_secret', { message: `No secret ${name} is available to this token.` })
  if (another)
    throw new Fault('ambiguous_secret', {
      message: `Several projects have a secret ${name}: name the project.`,
    })
  return found
}

/** Step 6. @throws Fault `policy_blocked` */
export function checkPolicies(
  secrets: ReadonlyMap<string, SealedSecret>,
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

/** Where a secret may stand whose policy does not say (docs/protocol.md, "Secrets"). */
const DEFAULT_LOCATIONS: NonNullable<Policy['allowed_locations']> = ['header', 'basic', 'env']

/** A signature shows in a header, so that is where its secret must be allowed. */
function locationOf(style: Placeholder['style']): NonNullable<Policy['allowed_locations']>[number] {
  return style === 'hmac_sha256' || style === 'aws_sigv4' ? 'header' : style
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

/**
 * Opens the values for this one request.
 *
 * @throws Fault `key_not_provisioned`, `unreadable_secret`
 */
export async function openSecrets(
  access: { snapshots: SnapshotCache; keys: KeyCache },
  snapshot: Snapshot,
  token: LiveToken,
  secrets: ReadonlyMap<string, SealedSecret>,
): Promise<Map<string, Secret>> {
  const opened = new Map<string, Secret>()
  for (const [name, sealed] of secrets) {
    const key = await environmentKeyOf(access, snapshot, token, sealed)
    const binding = bindingFor(sealed)
    const { ciphertext } = sealed
    const value = binding && ciphertext && openBoundValue(key.reveal(), binding, ciphertext)
    if (!value) {
      throw new Fault('unreadable_secret', {
        message: `The secret ${name} cannot be decrypted: it was altered or sealed under another key.`,
      })
    }
    opened.set(name, value)
  }
  return opened
}

/** A sealed secret lives as long as its snapshot, so its binding is made once for each policy version. */
const bindings = new WeakMap<SealedSecret, Uint8Array | null>()

function bindingFor(sealed: SealedSecret): Uint8Array | null {
  const known = bindings.get(sealed)
  if (known !== undefined) return known
  const binding = bindingOf(sealed, sealed.policy)
  bindings.set(sealed, binding)
  return binding
}
