/**
 * The data on which the local backend decides: the allowlist, and the sealed secrets of one environment with their
 * policies. Values are never kept. A change on the server takes effect after ten seconds at most. While the server is
 * unreachable, the last snapshot is used for 15 minutes. A refusal by the server ends it immediately. Ciphertexts are
 * read again only when IDs or versions change, because the audit records each read.
 */
import { readSecrets } from '../../client/environment.ts'
import { type Api, ApiError } from '../../client/http/api.ts'
import { FormerMember } from '../../client/signed/sign_change.ts'
import type { OpenWorkspace } from '../../client/workspace.ts'
import { UntrustedKey } from '../../client/workspace_key.ts'
import { withTimeout } from '../../core/async/timeout.ts'
import { fromBase64 } from '../../core/crypto/encoding.ts'
import type { SealedSecret } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import { type Domain, domainMatches, parseDomain } from '../../core/net/domain.ts'
import type { Policy } from '../../core/policy/policy.ts'
import type { Secret } from '../../core/secret.ts'
import { listAllowlist } from '../../features/allowlist/contract.ts'
import type { Guard } from '../../leak_guard/index.ts'
import { scansBodies } from '../../outbound/derived_values.ts'
import { type ObtainedToken, ObtainedTokens } from '../../outbound/obtained_tokens.ts'
import type { ProxyCredential, ProxyNotice } from '../backend.ts'
import type { LocalDerivation } from './derivation.ts'
import { AgentRemoved, checkIsThere, type NamedAgent } from './named_agent.ts'
import { type Made, type Open, prepareValues, shapeAll } from './opened_values.ts'
import { openWith, refuseHeld } from './vault_opening.ts'

/** The values' environment. `workspace` opens the workspace again each time, because a rekey changes its key. */
export type VaultPlace = {
  api: Api
  workspace(): Promise<OpenWorkspace>
  projectId: string
  environment: string
  agent?: NamedAgent | null
}

export type VaultSnapshot = {
  allows(host: string, port: number): boolean
  sealed(name: string): SealedSecret | undefined
  /** Whether any policy allows a value in a body, or limits methods, which a body may override. */
  scansBodies: boolean
  /** The value for a call; of a root the derived credential. @throws Unread while it is derived, Fault `unreadable_secret` and others */
  open(sealed: SealedSecret): Secret
  /** Returns the guard of every value in the environment; it keeps fingerprints, not values. */
  guard(): Promise<Guard>
  /** Makes later guards cover the tokens behind tickets. @throws Fault `rate_limited` */
  remember(tokens: readonly ObtainedToken[]): void
  /** Returns credentials by name, with the shapes of their stand-ins. */
  credentials(): Promise<ProxyCredential[]>
}

/** Stored secrets by name, with all data that only depends on them. */
type SealedSecrets = Omit<VaultSnapshot, 'allows' | 'open'> & {
  marks: string
  openFor(sealed: SealedSecret, allows: VaultSnapshot['allows']): Secret
}

const FRESH_MS = 10_000
/** Secrets without ciphertext in a page. */
const MARKS_IN_PAGE = 500
const LAST_RESORT_MS = 15 * 60_000
/** Milliseconds that a call waits for an unresponsive server, and milliseconds until the next request to it. */
const TIMEOUT_MS = 3_000
const PAUSE_MS = 5_000

export class VaultCache {
  readonly #place: VaultPlace
  readonly #now: () => number
  readonly #ended: ProxyNotice
  readonly #obtained: ObtainedTokens
  readonly #derivation: LocalDerivation | null
  #snapshot: VaultSnapshot | null = null
  #secrets: SealedSecrets | null = null
  #readAt = 0
  #failedAt = Number.NEGATIVE_INFINITY
  #reading: Promise<VaultSnapshot> | null = null

  /** Without `derivation`, roots are refused. */
  constructor(
    place: VaultPlace,
    now: () => number = Date.now,
    ended: ProxyNotice = () => {},
    derivation: LocalDerivation | null = null,
  ) {
    this.#derivation = derivation
    this.#place = place
    this.#now = now
    this.#obtained = new ObtainedTokens(now)
    this.#ended = ended
  }

  /** @throws Fault `unavailable` without a snapshot, `forbidden` when the server refuses */
  async current(): Promise<VaultSnapshot> {
    const age = this.#now() - this.#readAt
    if (this.#snapshot && age < FRESH_MS) return this.#snapshot
    const usable = age < LAST_RESORT_MS ? this.#snapshot : null
    if (usable && this.#now() - this.#failedAt < PAUSE_MS) return usable
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null
    })
    try {
      const timeoutMs = TIMEOUT_MS * (usable ? 1 : 5)
      return await withTimeout(timeoutMs, this.#reading, buildUnansweredError)
    } catch (error) {
      return this.#without(error, usable)
    }
  }

  async #read(): Promise<VaultSnapshot> {
    const startedAt = this.#now()
    const { api, workspace, agent } = this.#place
    const opened = await workspace()
    const [domains, secrets] = await Promise.all([
      domainsOf(api, opened),
      secretsOf(this.#place, opened, this.#secrets, {
        obtained: this.#obtained,
        derivation: this.#derivation,
      }),
      checkIsThere(api, opened.id, agent),
    ])
    const allows = (host: string, port: number) =>
      domains.some((domain) => domainMatches(domain, host, port))
    this.#secrets = secrets
    this.#snapshot = { ...secrets, allows, open: (sealed) => secrets.openFor(sealed, allows) }
    this.#readAt = startedAt
    return this.#snapshot
  }

  #without(error: unknown, usable: VaultSnapshot | null): VaultSnapshot {
    const message = endOf(error)
    if (message !== null) {
      if (this.#snapshot) this.#ended(message)
      this.#snapshot = null
      this.#secrets = null
      throw new Fault('forbidden', { message, cause: error })
    }
    this.#failedAt = this.#now()
    if (usable) return usable
    throw new Fault('unavailable', { cause: error })
  }
}

/** Returns why no secret may be used any more; `null` if they may. */
function endOf(error: unknown): string | null {
  if (error instanceof AgentRemoved) return error.message
  if (error instanceof UntrustedKey || error instanceof FormerMember)
    return `The call was not sent: ${error.message}.`
  const isRefusal = error instanceof ApiError && error.status < 500 && error.status !== 429
  return isRefusal ? 'This session can no longer read the environment.' : null
}

/** Returns the known secrets if ids, versions and hashes are unchanged. */
async function secretsOf(
  { api, projectId, environment }: VaultPlace,
  workspace: OpenWorkspace,
  known: SealedSecrets | null,
  made: Made,
): Promise<SealedSecrets> {
  const { epoch } = workspace
  const place = { api, workspace, projectId, environment }
  if (known) {
    const marks = marksOf(epoch, await readSecrets(place, { limit: MARKS_IN_PAGE }))
    if (marks === known.marks) return known
  }
  const secrets = await readSecrets(place, { include: 'value' })
  const sealed = new Map<string, SealedSecret>(
    secrets.map(({ key: name, policy, value }) => [
      name,
      {
        projectId,
        environment,
        key: name,
        policy: (policy ?? null) as Policy | null,
        ciphertext: fromBase64(value ?? ''),
      },
    ]),
  )
  return {
    marks: marksOf(epoch, secrets),
    ...sealSecrets(openWith(workspace, place), sealed, made),
  }
}

/** Every write of a secret, also of its policy alone, counts its version up; a new secret has a new id. */
function marksOf(epoch: number, secrets: Awaited<ReturnType<typeof readSecrets>>): string {
  const marks = secrets.map(({ id, version, value_sha256 }) => [id, version, value_sha256])
  return JSON.stringify([epoch, marks])
}

function sealSecrets(
  open: Open,
  sealed: ReadonlyMap<string, SealedSecret>,
  { obtained, derivation }: Made,
): Omit<SealedSecrets, 'marks'> {
  let kept: { guard: Promise<Guard>; version: number } | null = null
  return {
    sealed: (name) => sealed.get(name),
    scansBodies: [...sealed.values()].some(scansBodies),
    openFor: (entry, allows) => {
      const value = open(entry)
      refuseHeld(entry)
      if (!entry.policy?.kind) return value
      if (derivation) return derivation.open(entry, value, allows)
      throw new Fault('unusable_secret')
    },
    guard: () => {
      const version = obtained.version + (derivation?.version ?? 0)
      if (kept?.version !== version)
        kept = {
          guard: prepareValues([...sealed.values()], open, { obtained, derivation }),
          version,
        }
      return kept.guard
    },
    remember: (tokens) => obtained.add(tokens),
    credentials: () => shapeAll([...sealed.values()], open),
  }
}

function buildUnansweredError(): Error {
  return new Error('the server does not respond')
}

/** Returns the domains for values, by a signed workspace's chain with this member. @throws UntrustedChain */
async function domainsOf(api: Api, workspace: OpenWorkspace): Promise<Domain[]> {
  await workspace.newestChain()
  const signer = await workspace.signer()
  if (signer) return [...signer.chain.allowlist].flatMap((domain) => parseDomain(domain) ?? [])
  const allowlist = await api.list(listAllowlist, { params: { workspace_id: workspace.id } })
  return allowlist.flatMap(({ domain }) => parseDomain(domain) ?? [])
}
