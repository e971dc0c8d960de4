/**
 * Derived credentials of the local proxy (protocol 13.5). Each is derived in memory, and lost when the proxy ends. A
 * provider may replace a refresh token when it is used, and only the server can keep the next one, so such roots are
 * refused.
 */
import { createHash } from 'node:crypto'
import { Unread } from '../../core/async/unread.ts'
import type { SealedSecret } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import { LruMap } from '../../core/lru.ts'
import type { DerivedKind } from '../../core/policy/policy.ts'
import type { Secret } from '../../core/secret.ts'
import { buildRequest, endpointOf, readOutcome } from '../../derivation/derivation.ts'
import { isDue, isUsable, retryDelayS } from '../../derivation/due.ts'
import { listGuardedInPlaintext, listGuardedInState } from '../../derivation/guarded.ts'
import { type Root, readRoot } from '../../derivation/root.ts'
import { buildNextState, type DerivedState } from '../../derivation/state.ts'
import { prepareTokenRequest, type TokenOutbound } from '../../outbound/connection/token_request.ts'
import { domainBlocked } from '../../outbound/policy/permission.ts'
import { openDerivedCredential } from '../../outbound/signing/role_keys.ts'
import { parseTarget } from '../../outbound/target.ts'

type Allows = (host: string, port: number) => boolean

/** The credential of one root. */
type Held = {
  state: DerivedState | null
  running: Promise<void> | null
  failures: number
  /** The reason for a missing credential, and until when it holds, in Unix milliseconds. */
  fault: Fault | null
  faultUntil: number
}

const MAX_HELD = 1_000
const OWNER = { workspaceId: 'local', tokenId: 'local' }

export class LocalDerivation {
  readonly #outbound: TokenOutbound
  readonly #now: () => number
  /** Credentials by digest of kind and root: another root begins without a credential. */
  readonly #held = new LruMap<string, Held>({ max: MAX_HELD })
  #version = 0

  constructor(outbound: TokenOutbound, now: () => number = Date.now) {
    this.#outbound = outbound
    this.#now = now
  }

  /** Grows with each new credential: a guard that was prepared before does not cover it. */
  get version(): number {
    return this.#version
  }

  /**
   * Returns a root's credential.
   *
   * @throws Unread while it is derived; Fault `unusable_secret`, `domain_blocked`, `reconnect_required`,
   *   `derivation_failed`
   */
  open(sealed: SealedSecret, plaintext: Secret, allows: Allows): Secret {
    const held = this.#of(sealed, plaintext)
    const now = this.#now()
    if (held.state?.credential && isUsable(held.state, now)) {
      if (isDue(held.state, now)) void this.#derive(held, rootOf(sealed, plaintext, allows))
      return openDerivedCredential(held.state.credential)
    }
    if (held.fault && held.faultUntil > now) throw held.fault
    throw new Unread(this.#derive(held, rootOf(sealed, plaintext, allows)))
  }

  /** The values that the guard of answers covers: the root's secret fields, and all derived values. */
  listGuarded(sealed: SealedSecret, plaintext: Secret): Uint8Array[] {
    const { state } = this.#of(sealed, plaintext)
    return [
      ...listGuardedInPlaintext(kindOf(sealed), plaintext.reveal()),
      ...(state ? listGuardedInState(state).map(({ bytes }) => bytes) : []),
    ]
  }

  #of(sealed: SealedSecret, plaintext: Secret): Held {
    const digest = createHash('sha256').update(`${sealed.policy?.kind} `).update(plaintext.reveal())
    const name = digest.digest('base64')
    const known = this.#held.get(name)
    if (known) return known
    const held = { state: null, running: null, failures: 0, fault: null, faultUntil: 0 }
    this.#held.set(name, held)
    return held
  }

  /** Calls that need the same credential share one request. Never rejects. */
  #derive(held: Held, root: Root): Promise<void> {
    held.running ??= this.#request(held, root)
      .catch((error: unknown) => this.#fail(held, faultFor(error), null))
      .finally(() => {
        held.running = null
      })
    return held.running
  }

  async #request(held: Held, root: Root): Promise<void> {
    const request = await buildRequest(root, held.state, this.#now())
    const prepared = await prepareTokenRequest(this.#outbound, OWNER, request)
    const sentAt = this.#now()
    const outcome = readOutcome(root, await prepared.send(), request, this.#now())
    if (outcome.kind === 'final') {
      const message = `The provider refused to issue a credential (${outcome.code}). Store the secret again.`
      return this.#fail(held, new Fault('reconnect_required', { message }), null)
    }
    if (outcome.kind === 'retry')
      return this.#fail(held, new Fault('derivation_failed'), outcome.retryAfterS)
    held.state = buildNextState(held.state, outcome, sentAt, this.#now())
    held.failures = 0
    this.#version += 1
  }

  #fail(held: Held, fault: Fault, askedS: number | null): void {
    held.failures += 1
    held.fault = fault
    held.faultUntil = this.#now() + retryDelayS(held.failures, askedS) * 1000
  }
}

/** @throws Fault `unusable_secret`, `domain_blocked` */
function rootOf(sealed: SealedSecret, plaintext: Secret, allows: Allows): Root {
  const root = readRoot(kindOf(sealed), plaintext.reveal(), sealed.key)
  if (root.kind === 'oauth2' && root.refreshToken !== null)
    throw new Fault('unusable_secret', {
      message: `${sealed.key} has a refresh token, which only a server can renew. Start the proxy with --remote.`,
    })
  const endpoint = parseTarget(endpointOf(root).href)
  if (!allows(endpoint.host, endpoint.port)) throw domainBlocked(endpoint)
  return root
}

function kindOf({ policy }: SealedSecret): DerivedKind {
  return policy?.kind as DerivedKind
}

function faultFor(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('derivation_failed', { cause: error })
}
