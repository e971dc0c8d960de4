/**
 * Accepts loaded state of a signed workspace only as far as its members signed it (protocol 12.3): the chain, a token's
 * grant, the recipients of its envelopes, and the contents of its environments. The database may narrow that state (a
 * row revoked or expired), and cannot widen it.
 */
import { runInSlices } from '../../core/async/time_slice.ts'
import type { Clock } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto/primitives.ts'
import type { SealedSecret } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import type { Log } from '../../core/log.ts'
import {
  type Chain,
  GRANT_GRACE_MS,
  isSameNarrowing,
  Refusal,
  readFirstHash,
  readNarrowing,
  requireBinding,
  type SeenManifest,
  type SignedText,
  type TokenGrant,
  verifyEnvelope,
  verifyGrant,
  verifyManifest,
} from '../../sigchain/index.ts'
import {
  type Granted,
  placeNameOf,
  type Snapshot,
  type VerifiedEnvironment,
  type VerifiedToken,
} from '../snapshots/snapshot.ts'
import type { LiveToken } from '../tokens.ts'
import type { ChainCache } from './chains.ts'
import { DerivedGenerations } from './derived_generations.ts'
import { Refusals } from './refusals.ts'
import { formatSeenName } from './seen_states.ts'

export class Verifier {
  readonly chains: ChainCache
  readonly refusals: Refusals
  readonly derived = new DerivedGenerations()
  readonly #clock: Clock

  constructor({ chains, log, clock }: { chains: ChainCache; log: Log; clock: Clock }) {
    this.chains = chains
    this.#clock = clock
    this.refusals = new Refusals({ log, clock })
  }

  /** Whether the verification of a token also applies to its current bearer. */
  isCurrent({ terms, isBound, until }: VerifiedToken, token: LiveToken): boolean {
    return terms === token.terms && (isBound || token.isSealed) && this.#clock.now() < until
  }

  /**
   * Verifies a token's grant, and that the token is bound to the chain. For a sealed token, its client verifies the
   * binding.
   *
   * @throws Refusal, and Fault `invalid_token` for a token that the chain revoked or that has expired
   */
  async token(
    chain: Chain,
    token: LiveToken,
    { grant, binding }: Pick<VerifiedToken, 'grant' | 'binding'>,
  ): Promise<VerifiedToken> {
    const { id, terms, isSealed } = token
    if (terms === null) throw kindMismatch()
    const now = new Date(this.#clock.now())
    const said = await verifyGrant(chain, grant, { id, publicKey: terms.publicKey }, now).catch(
      throwInvalidIfEnded,
    )
    if (!isStoredAs(said, token)) {
      throw new Refusal('mismatch', 'the stored token has other rights than the grant', 'the grant')
    }
    if (!isSealed) {
      const bearer = { id, secret: new Uint8Array(token.secret()) }
      await requireBinding(bearer, readFirstHash(chain), binding.toBase64())
    }
    return { grant, binding, terms, isBound: !isSealed, until: endOf(said) + GRANT_GRACE_MS }
  }

  /** @throws Refusal */
  async envelope(
    chain: Chain,
    signed: SignedText | null,
    entry: Granted & { tokenId: string; epoch: number; envelope: Uint8Array | null },
  ): Promise<void> {
    const { envelope } = entry
    if (signed === null || envelope === null)
      throw new Refusal('form', 'it is not signed', 'the envelope')
    await verifyEnvelope(chain, signed, { ...entry, envelope: new Uint8Array(envelope) })
  }

  /** Returns the newest seen manifest of an environment: call it before the stored one is read. */
  readSeenManifest(workspaceId: string, place: Granted): SeenManifest | undefined {
    const seen = this.chains.seen.get(formatSeenName(workspaceId, place))
    return seen && { revision: seen.number, root: seen.hash, headSeq: seen.head }
  }

  /** Whether any process has seen newer state than a verified snapshot. */
  isBehind({ workspaceId, signed }: Snapshot, compared: { era: number }): boolean {
    const { seen } = this.chains
    if (!signed || signed.chain instanceof Fault || compared.era === seen.era) return false
    compared.era = seen.era
    const isNewer = (name: string, number: number) => (seen.get(name)?.number ?? 0) > number
    if (isNewer(workspaceId, signed.chain.seq)) return true
    const verified = [...signed.environments]
    return verified.some(([place, { revision }]) => isNewer(`${workspaceId}/${place}`, revision))
  }

  /**
   * Verifies the complete stored environment, and its manifest.
   *
   * @throws Refusal
   */
  async environment(
    chain: Chain,
    place: Granted & { seen: SeenManifest | undefined },
    secrets: readonly SealedSecret[],
    manifest: SignedText | null,
  ): Promise<VerifiedEnvironment> {
    const hashes = await hashesOf(secrets)
    let revision = 0
    if (manifest) {
      const found = await verifyManifest(chain, manifest, { ...place, rows: hashes })
      const { revision: number, root: hash, headSeq: head } = found
      revision = number
      if (number > (place.seen?.revision ?? 0))
        this.chains.seen.see(formatSeenName(chain.workspaceId, place), { number, hash, head })
    } else if (place.seen) throw new Refusal('revision', 'it is missing', 'the manifest')
    else if (secrets.length > 0) throw new Refusal('root', 'missing', 'the manifest')
    return { hashes, manifest, revision }
  }
}

/** A token of a signed workspace in a plain one, or a token of a plain workspace in a signed one. */
export function kindMismatch(): Refusal {
  return new Refusal('mismatch', 'only one of token and workspace is signed', 'the token')
}

/** Turns a refusal of a revoked or expired token into the usual `invalid_token`. */
function throwInvalidIfEnded(error: unknown): never {
  const isOver = error instanceof Refusal && ['revoked', 'expired'].includes(error.reason)
  throw isOver ? new Fault('invalid_token', { cause: error }) : error
}

/** The database may let a token end before its grant does. All other fields must be as granted. */
function isStoredAs(grant: TokenGrant, token: LiveToken): boolean {
  const { kind, registrationId, capabilities, projectId, environment, terms } = token
  return (
    grant.kind === kind &&
    grant.agent_id === registrationId &&
    grant.label === terms?.label &&
    grant.capabilities.join() === capabilities.join() &&
    grant.project_id === projectId &&
    grant.environment === environment &&
    isSameNarrowing(readNarrowing(grant), token) &&
    (terms.expiresAt ?? Number.POSITIVE_INFINITY) <= endOf(grant)
  )
}

function endOf({ expires_at }: TokenGrant): number {
  return expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
}

async function hashesOf(secrets: readonly SealedSecret[]): Promise<VerifiedEnvironment['hashes']> {
  const hashes = new Map<string, Uint8Array<ArrayBuffer>>()
  await runInSlices(secrets, ({ key, ciphertext }) => {
    if (ciphertext === null) throw new Refusal('root', 'a secret is unreadable', 'the manifest')
    hashes.set(key, sha256(ciphertext))
  })
  if (hashes.size === secrets.length) return hashes
  throw new Refusal('root', 'a name occurs twice', 'the manifest')
}

/**
 * Requires that secrets read by name are those of a verified environment: none is missing, and none differs.
 *
 * @throws Refusal
 */
export function requireNamed(
  placeName: string,
  hashes: VerifiedEnvironment['hashes'],
  names: readonly string[],
  secrets: readonly SealedSecret[],
): void {
  const here = secrets.filter((secret) => placeNameOf(secret) === placeName)
  const wanted = names.filter((name) => hashes.has(name))
  const areSame = here.every(
    ({ key, ciphertext }) => ciphertext && isSame(hashes.get(key), sha256(ciphertext)),
  )
  if (!areSame || here.length !== wanted.length) throw new Refusal('root', undefined, 'a secret')
}

function isSame(one: Uint8Array | undefined, other: Uint8Array): boolean {
  return one !== undefined && Buffer.from(other).equals(one)
}
