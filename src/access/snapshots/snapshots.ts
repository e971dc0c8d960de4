/**
 * Snapshots of workspaces for the resolver and deliveries: allowlist, sealed values and envelopes, all of one policy
 * version. A snapshot is discarded and read again when a recorded decision finds it outdated. Secrets are kept as the
 * client's ciphertext, never as plaintext.
 */
import { decideWhenRead, Unread } from '../../core/async/unread.ts'
import type { OuterLayer } from '../../core/crypto/outer_layer.ts'
import type { SealedSecret } from '../../core/crypto/secret_value.ts'
import { LruMap } from '../../core/lru.ts'
import type { CacheStats } from '../keys.ts'
import type { AccessReader } from '../reader.ts'
import { Sharing } from '../sharing.ts'
import type { Verifier } from '../signed/verifier.ts'
import type { LiveToken } from '../tokens.ts'
import type { StoredRelease } from './releases.ts'
import {
  fitsInto,
  type Granted,
  keepVerified,
  type PlaceableSecret,
  placeNameOf,
  type SealedEnvelope,
  type Snapshot,
  StaleSnapshot,
  selectEvicted,
  snapshotPart,
  type VerifiedToken,
} from './snapshot.ts'
import { type NumberedLink, SnapshotParts } from './snapshot_parts.ts'

export { type SealedEnvelope, type Snapshot, StaleSnapshot }

/** A shared read, and its result. */
type Reading = { read: Promise<Snapshot>; snapshot: Snapshot | null; era: number }

const MAX_SNAPSHOTS = 1000

export class SnapshotCache {
  readonly #parts: SnapshotParts
  readonly #verifier: Verifier
  readonly #counts = { hits: 0, misses: 0 }
  readonly #snapshots = new LruMap<string, Reading>({ max: MAX_SNAPSHOTS })
  readonly #verifying = new Sharing()
  /** The last environment read for verification: the guard of the same call reads it next. */
  #handed: { snapshot: Snapshot; name: string; secrets: readonly SealedSecret[] | null } | null =
    null

  constructor(read: AccessReader, outer: OuterLayer, verifier: Verifier) {
    this.#parts = new SnapshotParts(read, outer, verifier)
    this.#verifier = verifier
  }

  /** Returns a workspace's snapshot if it has been read. */
  getKnown(workspaceId: string): Snapshot | null {
    const snapshot = this.#getCurrent(workspaceId)?.snapshot ?? null
    if (snapshot) this.#counts.hits += 1
    return snapshot
  }

  /** Returns a workspace's snapshot. Simultaneous requests share one read. */
  async of(workspaceId: string): Promise<Snapshot> {
    const known = this.#getCurrent(workspaceId)
    this.#counts[known ? 'hits' : 'misses'] += 1
    if (known) return known.read
    const reading: Reading = { read: this.#parts.workspace(workspaceId), snapshot: null, era: -1 }
    this.#snapshots.set(workspaceId, reading)
    try {
      reading.snapshot = await reading.read
      return reading.snapshot
    } catch (error) {
      if (this.#snapshots.get(workspaceId) === reading) this.forget(workspaceId)
      throw error
    }
  }

  /** Returns the kept snapshot, unless this process has seen newer state of the workspace. */
  #getCurrent(workspaceId: string): Reading | undefined {
    const kept = this.#snapshots.get(workspaceId)
    if (!kept?.snapshot || !this.#verifier.isBehind(kept.snapshot, kept)) return kept
    this.forget(workspaceId)
  }

  /** Makes the next `of` read again, for a workspace or for all. */
  forget(workspaceId?: string): void {
    if (workspaceId === undefined) this.#snapshots.clear()
    else this.#snapshots.delete(workspaceId)
  }

  get stats(): CacheStats {
    return { ...this.#counts, entries: this.#snapshots.size }
  }

  /**
   * Returns what administrators granted a token of a signed workspace; null in a plain workspace.
   *
   * @throws Unread, whose reading throws Fault `unverified_state`, `invalid_token`, `key_not_provisioned`
   */
  requireGranted(snapshot: Snapshot, token: LiveToken): VerifiedToken | null {
    if (snapshot.signed === null && token.terms === null) return null
    const known = snapshot.signed?.tokens.get(token.id)
    if (known && this.#verifier.isCurrent(known, token)) return known
    const name = `${token.id}/${token.isSealed}`
    throw new Unread(this.#verifying.runOnce(snapshot, name, () => this.#verify(snapshot, token)))
  }

  /** Also requires that every environment with a key for the token holds what members stored. @throws Unread */
  requireVerified(snapshot: Snapshot, token: LiveToken): void {
    if (this.requireGranted(snapshot, token) === null) return
    if (snapshot.signed?.whole.has(token.id)) return
    throw new Unread(
      this.#verifying.runOnce(snapshot, token.id, () => this.#verifyAll(snapshot, token)),
    )
  }

  /** Whether a verified token's grant has expired, though nothing changed. */
  isOver(token: LiveToken): boolean {
    const { signed } = this.#snapshots.peek(token.workspaceId)?.snapshot ?? {}
    const known = signed?.tokens.get(token.id)
    return known !== undefined && !this.#verifier.isCurrent(known, token)
  }

  async #verify(snapshot: Snapshot, token: LiveToken): Promise<void> {
    const verified = await this.#parts.token(snapshot, token)
    snapshot.signed?.tokens.set(token.id, verified)
  }

  async #verifyAll(snapshot: Snapshot, { id }: LiveToken): Promise<void> {
    for (const place of await decideWhenRead(() => this.grants(snapshot, id))) {
      const { projectId, environment } = place
      const sealed = await this.envelope(snapshot, id, projectId, environment)
      const isVerified = snapshot.signed?.environments.has(placeNameOf(place))
      if (sealed?.epoch !== snapshot.epoch || isVerified) continue
      const secrets = await this.readEnvironment(snapshot, projectId, environment)
      this.#handed = { snapshot, name: placeNameOf(place), secrets }
    }
    snapshot.signed?.whole.add(id)
  }

  /**
   * Returns all secrets with these names in one environment, over all projects of the workspace.
   *
   * @throws Unread, whose reading throws StaleSnapshot
   */
  secrets(snapshot: Snapshot, environment: string, names: readonly string[]): SealedSecret[] {
    const missing: string[] = []
    const known: SealedSecret[] = []
    for (const name of names) {
      const secrets = snapshot.secrets.get(`${environment}/${name}`)
      if (secrets) known.push(...secrets)
      else missing.push(name)
    }
    if (missing.length > 0) throw new Unread(this.#loadSecrets(snapshot, environment, missing))
    return known
  }

  /** Returns one environment's secrets, of all projects, that may be used outside of headers. @throws Unread */
  placeable(snapshot: Snapshot, environment: string): readonly PlaceableSecret[] {
    const read = () => this.#parts.placeable(snapshot, environment)
    return snapshotPart(snapshot.placeable, environment, read)
  }

  /** Returns the places for which a token was given an envelope, of any epoch. @throws Unread */
  grants(snapshot: Snapshot, tokenId: string): readonly Granted[] {
    return snapshotPart(snapshot.grants, tokenId, () => this.#parts.grants(snapshot, tokenId))
  }

  /** Returns releases of held secrets to a token, live and ended. @throws Unread */
  releases(snapshot: Snapshot, tokenId: string): readonly StoredRelease[] {
    if (!snapshot.hasReleases) return []
    return snapshotPart(snapshot.releases, tokenId, () => this.#parts.releases(snapshot, tokenId))
  }

  /**
   * Returns all secrets of a project's environment, by name, or `null` when the workspace has no such project.
   *
   * @throws StaleSnapshot
   */
  async environment(
    snapshot: Snapshot,
    projectId: string,
    environment: string,
  ): Promise<readonly SealedSecret[] | null> {
    const secrets = await this.readEnvironment(snapshot, projectId, environment)
    snapshot.environments.set(placeNameOf({ projectId, environment }), secrets)
    return secrets
  }

  /**
   * The envelope of a token for a project and environment, or `null` without a grant.
   *
   * @throws StaleSnapshot
   */
  async envelope(
    snapshot: Snapshot,
    tokenId: string,
    projectId: string,
    environment: string,
  ): Promise<SealedEnvelope | null> {
    const place = { projectId, environment }
    const name = `${tokenId}/${placeNameOf(place)}`
    const known = snapshot.envelopes.get(name)
    if (known !== undefined) return known
    const loaded = await this.#parts.envelope(snapshot, tokenId, place)
    snapshot.envelopes.set(name, loaded)
    return loaded
  }

  async #loadSecrets(
    snapshot: Snapshot,
    environment: string,
    names: readonly string[],
  ): Promise<void> {
    const verified = snapshot.signed?.environments.size
    const sealed = await this.#parts.secrets(snapshot, environment, names)
    // Read again: environments that were verified meanwhile would be missing.
    if (snapshot.signed?.environments.size !== verified)
      return this.#loadSecrets(snapshot, environment, names)
    for (const name of names) {
      const found = sealed.filter(({ key }) => key === name)
      snapshot.secrets.set(`${environment}/${name}`, found)
    }
  }

  /** Reads an environment's secrets, and keeps them only if they are small. */
  async readEnvironment(
    snapshot: Snapshot,
    projectId: string,
    environment: string,
  ): Promise<readonly SealedSecret[] | null> {
    const place = { projectId, environment }
    const name = placeNameOf(place)
    const known = snapshot.environments.get(name)
    if (known !== undefined) return known
    const handed = this.#handed
    this.#handed = null
    if (handed?.snapshot === snapshot && handed.name === name) return handed.secrets
    const { secrets, verified } = await this.#parts.environment(snapshot, place)
    if (verified) {
      keepVerified(snapshot, place, verified)
      for (const id of selectEvicted(this.#snapshots, snapshot)) this.forget(id)
    }
    if (fitsInto(snapshot, secrets ?? [])) snapshot.environments.set(name, secrets)
    return secrets
  }

  /** Links of a signed workspace after one, at most a page. @throws StaleSnapshot */
  links(snapshot: Snapshot, after: number): Promise<NumberedLink[]> {
    return this.#parts.links(snapshot, after)
  }
}
