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
import type { CacheStats } from './keys.ts'
import type { Reader } from './reader.ts'
import {
  emptySnapshot,
  type Granted,
  type PlaceableSecret,
  partsOf,
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

const MAX_SNAPSHOTS = 1000
/** Secrets and envelopes that one snapshot may hold before it is read anew. */
const MAX_PARTS = 5000

export class SnapshotCache {
  readonly #read: Reader
  readonly #outer: OuterLayer
  readonly #counts = { hits: 0, misses: 0 }
  readonly #snapshots = new LruMap<string, Promise<Snapshot>>({ max: MAX_SNAPSHOTS })

  constructor(read: Reader, outer: OuterLayer) {
    this.#read = read
    this.#outer = outer
  }

  /** The snapshot of a workspace; requests that come at once share one read. */
  async of(workspaceId: string): Promise<Snapshot> {
    const known = this.#snapshots.get(workspaceId)
    this.#counts[known ? 'hits' : 'misses'] += 1
    const snapshot = known ?? this.#load(workspaceId)
    if (!known) this.#snapshots.set(workspaceId, snapshot)
    try {
      return await snapshot
    } catch (error) {
      this.forget(workspaceId, snapshot)
      throw error
    }
  }

  /** Makes the next `of` read anew, unless it was read anew already. */
  forget(workspaceId: string, seen?: Promise<Snapshot>): void {
    if (seen === undefined || this.#snapshots.get(workspaceId) === seen)
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
   * @throws StaleSnapshot
   */
  async secrets(
    snapshot: Snapshot,
    environment: string,
    names: readonly string[],
  ): Promise<SealedSecret[]> {
    const missing = names.filter((name) => !snapshot.secrets.has(`${environment}/${name}`))
    if (missing.length > 0) await this.#loadSecrets(snapshot, environment, missing)
    return names.flatMap((name) => snapshot.secrets.get(`${environment}/${name}`) ?? [])
  }

  /**
   * The secrets of one environment, over all projects, that may stand outside of headers.
   *
   * @throws StaleSnapshot
   */
  async placeable(snapshot: Snapshot, environment: string): Promise<readonly PlaceableSecret[]> {
    const known = snapshot.placeable.get(environment)
    if (known !== undefined) return known
    const rows = await readPlaceable(this.#read, snapshot.workspaceId, environment)
    this.#checkVersion(snapshot, rows[0]?.version)
    const loaded = rows.flatMap(({ key, projectId, policy }) =>
      key === null ? [] : [{ projectId, key, locations: policy?.allowed_locations ?? [] }],
    )
    snapshot.placeable.set(environment, loaded)
    return loaded
  }

  /**
   * Where a token was given an envelope, of whatever epoch.
   *
   * @throws StaleSnapshot
   */
  async grants(snapshot: Snapshot, tokenId: string): Promise<readonly Granted[]> {
    const known = snapshot.grants.get(tokenId)
    if (known !== undefined) return known
    const rows = await readGrants(this.#read, snapshot.workspaceId, tokenId)
    this.#checkVersion(snapshot, rows[0]?.version)
    const granted = rows.flatMap(({ projectId, environment }) =>
      projectId === null ? [] : [{ projectId, environment }],
    )
    snapshot.grants.set(tokenId, granted)
    return granted
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
    const name = `${projectId}/${environment}`
    const known = snapshot.environments.get(name)
    if (known !== undefined) return known
    const loaded = await this.readEnvironment(snapshot, projectId, environment)
    snapshot.environments.set(name, loaded)
    return loaded
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

  /** The same, read anew and not kept. */
  async readEnvironment(
    snapshot: Snapshot,
    projectId: string,
    environment: string,
  ): Promise<SealedSecret[] | null> {
    const { workspaceId } = snapshot
    const rows = await readEnvironment(this.#read, workspaceId, projectId, environment)
    this.#checkVersion(snapshot, rows[0]?.version)
    if (!rows[0]?.project) return null
    const stored = rows.filter(({ key }) => key !== null)
    return this.#openSecrets(snapshot, stored)
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
    if (version !== snapshot.policyVersion || partsOf(snapshot) > MAX_PARTS)
      throw new StaleSnapshot()
  }
}
