/**
 * Reads the parts of a snapshot: all of its policy version, out of the outer layer, and verified in a signed workspace.
 */
import type { OuterLayer } from '../../core/crypto/outer_layer.ts'
import type { SealedSecret } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import { type Chain, isSignedId, Refusal, type SignedText } from '../../sigchain/index.ts'
import type { AccessReader } from '../reader.ts'
import { readLinks, readManifest, readTokenGrant, signedTextOf } from '../signed/queries.ts'
import { kindMismatch, requireNamed, type Verifier } from '../signed/verifier.ts'
import type { LiveToken } from '../tokens.ts'
import { openSecretRows, toLockedSecret } from './open_rows.ts'
import { readReleases, type StoredRelease } from './releases.ts'
import {
  chainName,
  emptySnapshot,
  environmentIn,
  type Granted,
  isFull,
  type PlaceableSecret,
  parseDomains,
  placeNameOf,
  type SealedEnvelope,
  type Snapshot,
  StaleSnapshot,
  type VerifiedEnvironment,
  type VerifiedToken,
} from './snapshot.ts'
import {
  readEnvelope,
  readGrants,
  readPlaceable,
  readPlaceSecrets,
  readStoredSecrets,
  readWorkspace,
  type SecretRow,
} from './snapshot_queries.ts'

export type NumberedLink = SignedText & { seq: number }

type EnvironmentPart = {
  /** Null for a project that is not of the workspace. */
  secrets: SealedSecret[] | null
  /** Null in a plain workspace. */
  verified: VerifiedEnvironment | null
}

export class SnapshotParts {
  readonly #read: AccessReader
  readonly #outer: OuterLayer
  readonly #verifier: Verifier

  constructor(read: AccessReader, outer: OuterLayer, verifier: Verifier) {
    this.#read = read
    this.#outer = outer
    this.#verifier = verifier
  }

  /** Returns a snapshot without parts. @throws StaleSnapshot, Fault `invalid_token` for a deleted workspace */
  async workspace(workspaceId: string): Promise<Snapshot> {
    const [row] = await readWorkspace(this.#read, workspaceId)
    if (!row) throw new Fault('invalid_token')
    const { version: policyVersion, epoch, domains, hasReleases } = row
    const known = { workspaceId, policyVersion, hasReleases }
    if (!isSignedId(workspaceId))
      return emptySnapshot({ ...known, epoch, allowlist: domains.flatMap(parseDomains) })
    const chain = await this.#chain(workspaceId, policyVersion)
    if (chain instanceof Fault) return emptySnapshot({ ...known, epoch: 0, allowlist: [] }, chain)
    const allowlist = [...chain.allowlist].flatMap(parseDomains)
    return emptySnapshot({ ...known, epoch: chain.epoch, allowlist }, chain)
  }

  /** The refusal of a chain is part of the snapshot, so that decisions based on it are recorded like others. */
  async #chain(workspaceId: string, version: number): Promise<Chain | Fault> {
    const { chains, refusals } = this.#verifier
    const read = async (after: number) => {
      const rows = await readLinks(this.#read, workspaceId, after)
      if (rows[0]?.version !== version) throw new StaleSnapshot()
      return rows.flatMap((row) => signedTextOf(row) ?? [])
    }
    try {
      const name = chainName(version)
      return await refusals.unlessRefused(workspaceId, name, () => chains.of(workspaceId, read))
    } catch (error) {
      if (error instanceof Fault && error.code === 'unverified_state') return error
      throw error
    }
  }

  /** The chain of a signed workspace. @throws Fault `unverified_state`, StaleSnapshot to read again */
  chainOf({ workspaceId, policyVersion, signed }: Snapshot): Chain {
    if (signed === null) throw kindMismatch()
    if (!(signed.chain instanceof Fault)) return signed.chain
    const name = chainName(policyVersion)
    throw this.#verifier.refusals.findRecent(workspaceId, name) ?? new StaleSnapshot()
  }

  async secrets(
    snapshot: Snapshot,
    environment: string,
    names: readonly string[],
  ): Promise<SealedSecret[]> {
    const rows = await readStoredSecrets(this.#read, snapshot.workspaceId, environment, names)
    this.#checkVersion(snapshot, rows[0]?.version)
    const stored = rows.filter(({ key }) => key !== null)
    if (snapshot.signed === null) return this.#openSecrets(snapshot, stored)
    const { environments } = snapshot.signed
    const isVerified = (row: SecretRow) => environments.has(placeNameOf(row))
    const opened = await this.#openSecrets(snapshot, stored.filter(isVerified))
    await this.#countVerification(snapshot, environment, async () => {
      for (const [place, { hashes }] of environments)
        if (environmentIn(place) === environment) requireNamed(place, hashes, names, opened)
    })
    // An environment without a token has no usable secret, and was not verified.
    const others = stored.filter((row) => !isVerified(row))
    return [...opened, ...others.map(toLockedSecret)]
  }

  /** Reads secrets with policies that allow places outside of headers. Opening a value verifies its policy's author. */
  async placeable(snapshot: Snapshot, environment: string): Promise<PlaceableSecret[]> {
    const rows = await readPlaceable(this.#read, snapshot.workspaceId, environment)
    this.#checkVersion(snapshot, rows[0]?.version)
    return rows.flatMap(({ key, projectId, policy }) =>
      key === null ? [] : [{ projectId, key, locations: policy?.allowed_locations ?? [] }],
    )
  }

  async grants(snapshot: Snapshot, tokenId: string): Promise<Granted[]> {
    const rows = await readGrants(this.#read, snapshot.workspaceId, tokenId)
    this.#checkVersion(snapshot, rows[0]?.version)
    return rows.flatMap(({ projectId, environment }) =>
      projectId === null ? [] : [{ projectId, environment }],
    )
  }

  async releases(snapshot: Snapshot, tokenId: string): Promise<StoredRelease[]> {
    const of = { workspaceId: snapshot.workspaceId, tokenId }
    const { version, releases } = await readReleases(this.#read, this.#outer, of)
    this.#checkVersion(snapshot, version)
    return releases
  }

  async environment(snapshot: Snapshot, place: Granted): Promise<EnvironmentPart> {
    const { workspaceId, signed } = snapshot
    const { projectId, environment } = place
    // Call this before reading the rows, so that a concurrent write does not look like older state.
    const seen = this.#verifier.readSeenManifest(workspaceId, place)
    const [rows, [manifest]] = await Promise.all([
      readPlaceSecrets(this.#read, workspaceId, projectId, environment),
      signed ? readManifest(this.#read, workspaceId, projectId, environment) : [],
    ])
    this.#checkVersion(snapshot, rows[0]?.version)
    if (!rows[0]?.project) return { secrets: null, verified: null }
    const stored = rows.filter(({ key }) => key !== null)
    const secrets = await this.#openSecrets(snapshot, stored)
    if (signed === null) return { secrets, verified: null }
    this.#checkVersion(snapshot, manifest?.version)
    const text = manifest ? signedTextOf(manifest) : null
    const verified = await this.#countVerification(snapshot, placeNameOf(place), () =>
      this.#verifier.environment(this.chainOf(snapshot), { ...place, seen }, secrets, text),
    )
    return { secrets, verified }
  }

  async envelope(
    snapshot: Snapshot,
    tokenId: string,
    place: Granted,
  ): Promise<SealedEnvelope | null> {
    const { workspaceId } = snapshot
    const { projectId, environment } = place
    const [row] = await readEnvelope(this.#read, workspaceId, tokenId, projectId, environment)
    this.#checkVersion(snapshot, row?.version)
    if (!row || row.epoch === null) return null
    const { epoch } = row
    // An envelope of another epoch is not used, so it needs no signature.
    if (snapshot.signed && epoch !== snapshot.epoch) return { epoch, envelope: null, signed: null }
    const parts = [{ uuid: tokenId }, { uuid: projectId }, { text: environment }]
    const column = 'token_envelopes.envelope'
    const envelope = await this.#outer.open(column, workspaceId, parts, row.envelope)
    const signed = signedTextOf(row)
    if (snapshot.signed) {
      const entry = { ...place, tokenId, epoch, envelope }
      await this.#countVerification(snapshot, `${tokenId}/${placeNameOf(place)}`, () =>
        this.#verifier.envelope(this.chainOf(snapshot), signed, entry),
      )
    }
    return { epoch, envelope, signed }
  }

  /**
   * Reads and verifies what a token was granted, in a signed workspace.
   *
   * @throws Fault `unverified_state`, `invalid_token`, `key_not_provisioned` for a token without a grant
   */
  token(snapshot: Snapshot, token: LiveToken): Promise<VerifiedToken> {
    return this.#countVerification(snapshot, token.id, async () => {
      const chain = this.chainOf(snapshot)
      const [row] = await readTokenGrant(this.#read, snapshot.workspaceId, token.id)
      this.#checkVersion(snapshot, row?.version)
      const grant = row ? signedTextOf(row) : null
      if (grant && row?.binding) {
        return this.#verifier.token(chain, token, { grant, binding: row.binding })
      }
      if (token.terms === null) throw kindMismatch()
      const granted = await this.grants(snapshot, token.id)
      if (granted.length === 0) throw new Fault('key_not_provisioned', { message: NOT_GRANTED })
      throw new Refusal('form', 'missing', 'the grant')
    })
  }

  /** The links of a signed workspace after one: at most a page. */
  async links(snapshot: Snapshot, after: number): Promise<NumberedLink[]> {
    const rows = await readLinks(this.#read, snapshot.workspaceId, after)
    this.#checkVersion(snapshot, rows[0]?.version)
    return rows.flatMap((row) => {
      const link = signedTextOf(row)
      return link ? [{ seq: row.seq, ...link }] : []
    })
  }

  #countVerification<T>(
    { workspaceId, policyVersion }: Snapshot,
    subject: string,
    verify: () => Promise<T>,
  ): Promise<T> {
    const name = `${policyVersion}/${subject}`
    return this.#verifier.refusals.unlessRefused(workspaceId, name, verify)
  }

  async #openSecrets(snapshot: Snapshot, rows: readonly SecretRow[]): Promise<SealedSecret[]> {
    const secrets = await openSecretRows(this.#outer, snapshot.workspaceId, rows)
    const derived = secrets.filter((secret) => secret.derived)
    for (const [environment, list] of Map.groupBy(derived, (secret) => secret.environment))
      await this.#countVerification(snapshot, `derived/${environment}`, async () =>
        this.#verifier.derived.requireNewest(snapshot, list),
      )
    return secrets
  }

  #checkVersion(snapshot: Snapshot, version: number | undefined): void {
    if (version !== snapshot.policyVersion || isFull(snapshot)) throw new StaleSnapshot()
  }
}

const NOT_GRANTED =
  'This token has no signed grant. Have an owner or admin issue a new one: `cloakroom token issue`.'
