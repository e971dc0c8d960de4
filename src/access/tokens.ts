/**
 * Identifies a token: step 1 of resolver and delivery. Rows are cached. The statement that records the decision proves
 * again that a cached token is still live (audit/trail.ts).
 */
import { hash } from 'node:crypto'
import type { Capability } from '../core/capability.ts'
import type { Clock } from '../core/clock.ts'
import { toBase64 } from '../core/crypto/encoding.ts'
import type { Pepper, TokenIdentity } from '../core/crypto/pepper.ts'
import {
  deriveVerifier,
  type ParsedToken,
  parseToken,
  secretTextOf,
  type TokenKind,
} from '../core/crypto/token.ts'
import { Fault } from '../core/fault.ts'
import { LruMap } from '../core/lru.ts'
import type { TokenLimits } from '../core/token_limits.ts'
import { isSignedId } from '../sigchain/index.ts'
import type { CacheStats } from './keys.ts'
import type { AccessReader } from './reader.ts'

export type TokenRow = {
  id: string
  kind: 'agent' | 'workload'
  workspaceId: string
  projectId: string | null
  environment: string | null
  capabilities: readonly Capability[]
  /** In the allowlist's syntax; null for every host on it. */
  hosts: readonly string[] | null
  /** Names; null for every secret that it was granted. */
  secrets: readonly string[] | null
  /** Its limits; null without limits. */
  limits: TokenLimits | null
  verifier: Uint8Array
  registrationId: string | null
  /** The agent's name, or the label of a workload's token. */
  name: string
  /** The other terms of the grant, for a token with the id of a signed workspace; null for other tokens. */
  terms: TokenTerms | null
}

/** `expiresAt` in milliseconds. */
export type TokenTerms = { label: string; publicKey: string; expiresAt: number | null }

/** A verified token: its row, and the presented secret. */
export type LiveToken = TokenRow & {
  /** Whether it only authenticates, and cannot decrypt. */
  isSealed: boolean
  /** The secret part, which opens the envelopes stored for the token. */
  secret(): Uint8Array
  /** The secret part as text. */
  secretText(): string
}

type Proof = { row: TokenRow; isSealed: boolean }

/** Token kinds in the token text, with the matching kinds of rows. A sealed token has the kind of its row. */
const KINDS: Record<TokenKind, readonly TokenRow['kind'][]> = {
  agt: ['agent'],
  wkl: ['workload'],
  sea: ['agent', 'workload'],
  ses: [],
  ref: [],
}
/** Milliseconds for which a row is kept. While a token is live, only its verifier changes. */
const TTL_MS = 600_000
const MAX_TOKENS = 10_000

export class TokenCache {
  readonly #read: AccessReader
  readonly #pepper: Pepper
  readonly #counts = { hits: 0, misses: 0 }
  readonly #rows: LruMap<string, TokenRow>
  /** Verifiers by the digest of the token's text: no token stays in memory. */
  readonly #proven = new LruMap<string, Proof>({ max: MAX_TOKENS })

  constructor(read: AccessReader, clock: Clock, pepper: Pepper) {
    this.#read = read
    this.#pepper = pepper
    this.#rows = new LruMap({ max: MAX_TOKENS, expiry: { ms: TTL_MS, clock } })
  }

  /** @throws Fault `invalid_token`, equal for malformed, unknown, wrong, revoked and expired tokens */
  async verify(text: string): Promise<LiveToken> {
    const digest = hash('sha256', text, 'base64')
    const proven = this.#proven.get(digest)
    if (proven && this.#rows.get(proven.row.id) === proven.row) {
      this.#counts.hits += 1
      return toLiveToken(proven, text)
    }
    const presented = parseToken(text)
    if (!presented || KINDS[presented.kind].length === 0) throw new Fault('invalid_token')
    const proof = { row: await this.#prove(presented), isSealed: presented.kind === 'sea' }
    this.#proven.set(digest, proof)
    return toLiveToken(proof, text)
  }

  async #prove(presented: ParsedToken): Promise<TokenRow> {
    const cached = this.#rows.get(presented.id) ?? null
    this.#counts[cached ? 'hits' : 'misses'] += 1
    if (this.#fits(presented, cached)) return cached
    // Reload a row that does not fit: it may be outdated, and the timing must not reveal whether a token exists.
    const row = await this.#load(presented.id)
    if (this.#fits(presented, row)) return row
    throw new Fault('invalid_token')
  }

  /** Takes as long without a row as for a wrong secret. */
  #fits(presented: ParsedToken, row: TokenRow | null): row is TokenRow {
    const verifier = deriveVerifier(presented)
    const match = this.#pepper.matchVerifier(
      row && identityOf(row),
      verifier,
      row?.verifier ?? null,
    )
    if (!row || match === 'wrong' || !KINDS[presented.kind].includes(row.kind)) return false
    if (match === 'older') this.#renew(row, verifier)
    return true
  }

  /** Rehashes the token with the first SECRET_KEY in the background. If this fails, the old verifier stays valid. */
  #renew(row: TokenRow, verifier: Uint8Array): void {
    const renewed = this.#pepper.sealVerifier(identityOf(row), verifier)
    this.#read`
      update tokens set verifier = decode(${renewed.toHex()}, 'hex')
      where id = ${row.id} and verifier = decode(${row.verifier.toHex()}, 'hex')`.catch(() => {})
  }

  /** Checks the token in the database. @throws Fault `invalid_token` if it is no longer live */
  async confirm({ id }: TokenRow): Promise<void> {
    this.#rows.delete(id)
    if (!(await this.#load(id))) throw new Fault('invalid_token')
  }

  /** Returns the live ones among these tokens, each with its workspace's policy version. */
  async versions(ids: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.#read<{ id: string; version: number }[]>`
      select t.id, w.policy_version::float8 as version
      from tokens t join workspaces w on w.id = t.workspace_id
      where t.id in (select json_array_elements_text(${JSON.stringify(ids)}::text::json)::uuid)
        and t.revoked_at is null and (t.expires_at is null or t.expires_at > clock_timestamp())`
    return new Map(rows.map(({ id, version }) => [id, version]))
  }

  /** Makes the next check of a workspace's tokens, or of all tokens, read the database. */
  forget(workspaceId?: string): void {
    for (const [id, row] of this.#rows)
      if (workspaceId === undefined || row.workspaceId === workspaceId) this.#rows.delete(id)
  }

  get stats(): CacheStats {
    return { ...this.#counts, entries: this.#rows.size }
  }

  async #load(id: string): Promise<TokenRow | null> {
    const [stored] = await this.#read<StoredToken[]>`
      select t.id, t.kind, t.workspace_id as "workspaceId", t.project_id as "projectId", t.environment,
        t.capabilities, t.hosts, t.secrets, t.limits, t.verifier, a.id as "registrationId", coalesce(a.name, t.label) as name,
        t.label, t.public_key as "publicKey", (extract(epoch from t.expires_at) * 1000)::float8 as "expiresAt"
      from tokens t left join agents a on a.id = t.agent_id
      where t.id = ${id} and t.revoked_at is null
        and (t.expires_at is null or t.expires_at > clock_timestamp())`
    if (!stored) return null
    const row = rowOf(stored)
    this.#rows.set(id, row)
    return row
  }
}

type StoredToken = Omit<TokenRow, 'terms'> &
  Omit<TokenTerms, 'publicKey'> & { publicKey: Uint8Array }

function rowOf({ label, publicKey, expiresAt, ...row }: StoredToken): TokenRow {
  if (!isSignedId(row.id)) return { ...row, terms: null }
  return { ...row, terms: { label, publicKey: toBase64(publicKey), expiresAt } }
}

function identityOf({ id, kind, workspaceId }: TokenRow): TokenIdentity {
  return { kind: kind === 'agent' ? 'agt' : 'wkl', id, ownerId: workspaceId }
}

function toLiveToken({ row, isSealed }: Proof, text: string): LiveToken {
  return {
    ...row,
    isSealed,
    secret: () => parseToken(text)?.secret ?? new Uint8Array(),
    secretText: () => secretTextOf(text),
  }
}
