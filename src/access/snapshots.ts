/**
 * What resolver and delivery know of a workspace: allowlist, sealed values and envelopes, all of one policy
 * version. A snapshot is kept until the recorded decision turns out to be of an older version; then it is
 * thrown away and read anew. Secrets are kept as the client's ciphertext, never in the clear.
 */
import { type OuterLayer, secretRow } from '../platform/crypto/outer_layer.ts'
import type { SealedSecret } from '../platform/crypto/secret_value.ts'
import { Fault } from '../platform/fault.ts'
import { LruMap } from '../platform/lru.ts'
import { parseDomain } from '../platform/net/domain.ts'
import { Unread } from '../platform/unread.ts'
import type { CacheStats } from './keys.ts'
import type { Reader } from './reader.ts'
import {
  emptySnapshot,
  type Granted,
  hasRoomFor,
  isFull,
  type PlaceableSecret,
  type SealedEnvelope,
  type Snapshot,
  StaleSnapshot,
} from './snapshot.ts'
import {
  readEnvelope,
  readEnvironment,
  readGrants,
  readPlaceable,
  readSecrets,
  readWorkspace,
  type StoredSecret,
} from './snapshot_queries.ts'

export { type SealedEnvelope, type Snapshot, StaleSnapshot }

/** A read that is shared, and what came of it. */
type Reading = { read: Promise<Snapshot>; snapshot: Snapshot | null }

const MAX_SNAPSHOTS = 1000

export class SnapshotCache {
  readonly #read: Reader
  readonly #outer: OuterLayer
  readonly #counts = { hits: 0, misses: 0 }
  readonly #snapshots = new LruMap<string, Reading>({ max: MAX_SNAPSHOTS })

  constructor(read: Reader, outer: OuterLayer) {
    this.#read = read
    this.#outer = outer
  }

  /** The snapshot of a workspace, where it has been read. */
  known(workspaceId: string): Snapshot | null {
    const snapshot = this.#snapshots.get(workspaceId)?.snapshot ?? null
    if (snapshot) this.#counts.hits += 1
    return snapshot
  }

  /** The snapshot of a workspace; requests that come at once share one read. */
  async of(workspaceId: string): Promise<Snapshot> {
    const known = this.#snapshots.get(workspaceId)
    this.#counts[known ? 'hits' : 'misses'] += 1
    if (known) return known.read
    const reading: Reading = { read: this.#load(workspaceId), snapshot: null }
    this.#snapshots.set(workspaceId, reading)
    try {
      reading.snapshot = await reading.read
      return reading.snapshot
    } catch (error) {
      if (this.#snapshots.get(workspaceId) === reading) this.forget(workspaceId)
      throw error
    }
  }

  /** Makes the next `of` read anew. */
  forget(workspaceId: string): void {
    this.#snapshots.delete(workspaceId)
  }

  forgetAll(): void {
    this.#snapshots.clear()
  }

  get stats(): CacheStats {
    return { ...this.#counts, entries: this.#snapshots.size }
  }

  /**
   * All secrets of these names in one environment, over all projects of the workspace.
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

  /** What of one environment, over all projects, may stand outside of headers. @throws Unread */
  placeable(snapshot: Snapshot, environment: string): readonly PlaceableSecret[] {
    const known = snapshot.placeable.get(environment)
    if (known !== undefined) return known
    throw new Unread(this.#loadPlaceable(snapshot, environment))
  }

  async #loadPlaceable(snapshot: Snapshot, environment: string): Promise<void> {
    const rows = await readPlaceable(this.#read, snapshot.workspaceId, environment)
    this.#checkVersion(snapshot, rows[0]?.version)
    const loaded = rows.flatMap(({ key, projectId, policy }) =>
      key === null ? [] : [{ projectId, key, locations: policy?.allowed_locations ?? [] }],
    )
    snapshot.placeable.set(environment, loaded)
  }

  /** Where a token was given an envelope, of whatever epoch. @throws Unread */
  grants(snapshot: Snapshot, tokenId: string): readonly Granted[] {
    const known = snapshot.grants.get(tokenId)
    if (known !== undefined) return known
    throw new Unread(this.#loadGrants(snapshot, tokenId))
  }

  async #loadGrants(snapshot: Snapshot, tokenId: string): Promise<void> {
    const rows = await readGrants(this.#read, snapshot.workspaceId, tokenId)
    this.#checkVersion(snapshot, rows[0]?.version)
    const granted = rows.flatMap(({ projectId, environment }) =>
      projectId === null ? [] : [{ projectId, environment }],
    )
    snapshot.grants.set(tokenId, granted)
  }

  /**
   * All secrets of a project's environment, by name, or `null` when the workspace has no such project.
   *
   * @throws StaleSnapshot
   */
  async environment(
    snapshot: Snapshot,
    projectId: string,
    environment: string,
  ): Promise<readonly SealedSecret[] | null> {
    const secrets = await this.readEnvironment(snapshot, projectId, environment)
    snapshot.environments.set(`${projectId}/${environment}`, secrets)
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
    const name = `${tokenId}/${projectId}/${environment}`
    const known = snapshot.envelopes.get(name)
    if (known !== undefined) return known
    const loaded = await this.#loadEnvelope(snapshot, tokenId, projectId, environment)
    snapshot.envelopes.set(name, loaded)
    return loaded
  }

  async #load(workspaceId: string): Promise<Snapshot> {
    const [row] = await readWorkspace(this.#read, workspaceId)
    if (!row) throw new Fault('invalid_token')
    const allowlist = row.domains.flatMap((text) => parseDomain(text) ?? [])
    const { version: policyVersion, epoch } = row
    return emptySnapshot({ workspaceId, policyVersion, epoch, allowlist })
  }

  async #loadSecrets(
    snapshot: Snapshot,
    environment: string,
    names: readonly string[],
  ): Promise<void> {
    const { workspaceId } = snapshot
    const rows = await readSecrets(this.#read, workspaceId, environment, names)
    this.#checkVersion(snapshot, rows[0]?.version)
    const stored = rows.filter(({ key }) => key !== null)
    const sealed = await this.#openSecrets(snapshot, stored)
    for (const name of names) {
      snapshot.secrets.set(
        `${environment}/${name}`,
        sealed.filter(({ key }) => key === name),
      )
    }
  }

  /** The same, kept only where it is small. */
  async readEnvironment(
    snapshot: Snapshot,
    projectId: string,
    environment: string,
  ): Promise<readonly SealedSecret[] | null> {
    const name = `${projectId}/${environment}`
    const known = snapshot.environments.get(name)
    if (known !== undefined) return known
    const { workspaceId } = snapshot
    const rows = await readEnvironment(this.#read, workspaceId, projectId, environment)
    this.#checkVersion(snapshot, rows[0]?.version)
    const stored = rows.filter(({ key }) => key !== null)
    const secrets = rows[0]?.project ? await this.#openSecrets(snapshot, stored) : null
    if (hasRoomFor(snapshot, secrets ?? [])) snapshot.environments.set(name, secrets)
    return secrets
  }

  async #openSecrets(snapshot: Snapshot, rows: readonly StoredSecret[]): Promise<SealedSecret[]> {
    const stored = rows.map((row) => ({ row: secretRow(row), blob: row.sealed }))
    const opened = await this.#outer.openAll('secrets.value', snapshot.workspaceId, stored)
    return rows.map(({ projectId, environment, key, policy }, index) => ({
      projectId,
      environment,
      key,
      policy,
      ciphertext: opened[index] ?? null,
    }))
  }

  async #loadEnvelope(
    snapshot: Snapshot,
    tokenId: string,
    projectId: string,
    environment: string,
  ): Promise<SealedEnvelope | null> {
    const { workspaceId } = snapshot
    const [row] = await readEnvelope(this.#read, workspaceId, tokenId, projectId, environment)
    this.#checkVersion(snapshot, row?.version)
    if (!row || row.epoch === null) return null
    const place = [{ uuid: tokenId }, { uuid: projectId }, { text: environment }]
    const envelope = await this.#outer.open(
      'token_envelopes.envelope',
      snapshot.workspaceId,
      place,
      row.envelope,
    )
    return { epoch: row.epoch, envelope }
  }

  #checkVersion(snapshot: Snapshot, version: number | undefined): void {
    if (version !== snapshot.policyVersion || isFull(snapshot)) throw new StaleSnapshot()
  }
}
