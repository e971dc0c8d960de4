/**
 * Steps 3 to 5: the caller's permissions. They come from a token's snapshot in the resolver, and from the member's
 * vault in the local proxy. This module selects a call's secrets from them.
 */

import { commandFix, Fault } from '../../core/fault.ts'
import { parseDomain } from '../../core/net/domain.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { isMarked } from '../../core/policy/references.ts'
import type { Secret } from '../../core/secret.ts'
import type { Guard } from '../../leak_guard/index.ts'
import type { Call } from '../call.ts'
import type { IsPlaceable } from '../injection/locations.ts'
import type { ObtainedToken } from '../obtained_tokens.ts'
import { partNamed } from '../stand_ins/parts.ts'
import type { Target } from '../target.ts'
import type { AskedRequest } from './policy.ts'

/** The scope in which names are looked up; without a project, all projects. */
export type CallScope = { projectId: string | null; environment: string }

/** A call for which a member has to release values. */
export type ApprovalUse = {
  call: Call
  asked: AskedRequest
  secrets: ReadonlyMap<string, UsableSecret>
  /** Null for WebSockets and gRPC, whose messages cannot be shown in advance. */
  body: Uint8Array | null
}

/** A caller's permissions. Unknown data is thrown as `Unread`. Nothing changes until the decision. */
export interface CallPermission {
  /** The holder of the permission, for messages. */
  readonly holder: string
  /** Step 3: whether calls to the target are allowed at all. */
  allows(target: Target): boolean
  /** Step 5. @throws Fault `scope_required` for a call that names another scope than its own */
  scope(): CallScope
  /** Step 4: returns the places outside of headers that the policies of the scope's secrets allow. */
  placeable(): IsPlaceable
  /** Whether a name is one that the caller may use at all; without it all are. */
  covers?(name: string): boolean
  /** Step 4: the secrets of these names in that scope, of whichever project. */
  secrets(names: readonly string[]): readonly UsableSecret[]
  /**
   * Returns the guard of every value that may be used in any scope, except for settings (protocol 6.1): a value that a
   * call in one scope stored at an API could be read back in another.
   */
  guard(): Guard
  /**
   * Makes the guards of later calls cover the tokens behind this call's tickets (protocol 6.5).
   *
   * @throws Fault `rate_limited` for more than can be remembered
   */
  remember(tokens: readonly ObtainedToken[]): void
  /**
   * Requests the release of a call's held secrets (protocol 14.2). Without it, no call may use them.
   *
   * @throws Unread, UnreadBefore, Fault `approval_required`, `approval_denied`
   */
  approve?(use: ApprovalUse): void
}

export interface UsableSecret {
  readonly name: string
  readonly projectId: string
  readonly policy: Policy | null
  /**
   * Decrypts the value for one call. This proves the policy, which the ciphertext binds.
   *
   * @throws Fault `key_not_provisioned`, `unreadable_secret`
   */
  open(): Secret
  /**
   * Proves the policy of a root without deriving anything.
   *
   * @throws Fault `key_not_provisioned`, `unreadable_secret`
   */
  prove?(): void
}

/** Returns the refusal of step 3, with the missing allowlist entry, since port and wildcards are easily forgotten. */
export function domainBlocked({ host, port }: Pick<Target, 'host' | 'port'>): Fault {
  const domain = parseDomain(port === 443 ? host : `${host}:${port}`) ?? undefined
  return new Fault('domain_blocked', {
    message: `${host}:${port} is not on the allowlist of the workspace.`,
    fix: domain && commandFix('allowlist', 'add', domain.text),
  })
}

/** Every name once. */
export function namesOf(placeholders: readonly { name: string }[]): string[] {
  const names: string[] = []
  for (const { name } of placeholders) if (!names.includes(name)) names.push(name)
  return names
}

/**
 * The one secret for each name.
 *
 * @throws Fault `unknown_secret`, `ambiguous_secret`
 */
export function selectSecrets<S extends UsableSecret>(
  names: readonly string[],
  secrets: readonly S[],
  asking: Asking,
): Map<string, S> {
  const selected = new Map<string, S>()
  for (const name of names) selected.set(name, requireOnly(name, secrets, asking))
  return selected
}

/** The holder who requests the secrets, and the environment; `null` if a refusal suggests no command. */
type Asking = { holder: string; environment: string | null }

function requireOnly<S extends UsableSecret>(
  name: string,
  secrets: readonly S[],
  { holder, environment }: Asking,
): S {
  const [found, another] = secrets.filter((secret) => secret.name === name)
  if (!found) {
    const isWhole = partNamed(name) === null
    throw new Fault('unknown_secret', {
      message: `No secret ${name} is available to ${holder}.`,
      // The fix asks for the value. A part is not stored by itself.
      fix:
        isWhole && environment ? commandFix('secrets', 'set', name, '-e', environment) : undefined,
    })
  }
  if (another) {
    throw new Fault('ambiguous_secret', {
      message: `Several projects have a secret ${name}. Name the project.`,
    })
  }
  return found
}

/** Returns the names of settings: their policies mark them as not sensitive. */
export function settingsAmong(secrets: ReadonlyMap<string, UsableSecret>): Set<string> {
  const settings = new Set<string>()
  for (const [name, { policy }] of secrets) if (policy?.sensitive === false) settings.add(name)
  return settings
}

/** Returns the secrets that Basic credentials hold form-encoded (RFC 6749, section 2.3.1). */
export function formEncodedAmong(secrets: ReadonlyMap<string, UsableSecret>): Set<string> {
  const names = new Set<string>()
  for (const [name, { policy }] of secrets) if (policy?.basic_encoding === 'form') names.add(name)
  return names
}

/** Whether some are roots: a call that is refused derives nothing from them. */
export function proveRoots(secrets: ReadonlyMap<string, UsableSecret>): boolean {
  const roots = [...secrets.values()].filter(({ policy }) => policy?.kind)
  for (const root of roots) root.prove?.()
  return roots.length > 0
}

/** @throws Fault `key_not_provisioned`, `unreadable_secret`, `unresolved_reference` */
export function openSecrets(secrets: ReadonlyMap<string, UsableSecret>): Map<string, Secret> {
  const opened = new Map<string, Secret>()
  for (const [name, secret] of secrets) {
    opened.set(name, secret.open())
    if (isMarked(secret.policy)) throw buildUnresolvedFault(name)
  }
  return opened
}

/** Refuses a reference: the value that it names has its own policy, and its text means nothing to an upstream. */
function buildUnresolvedFault(name: string): Fault {
  return new Fault('unresolved_reference', {
    message: `The secret ${name} refers to other secrets, which calls do not resolve. Use those secrets directly.`,
  })
}
