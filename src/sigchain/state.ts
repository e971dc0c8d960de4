/** The state that a chain of links results in. It is plain data that can be kept and passed to another thread. */
import type { Role } from './fields.ts'
import type { Member } from './texts.ts'

/** A person's role and key from a link on. `role` is null after a removal. */
export type Period = { since: number; role: Role | null; signingKey: string }

export type Chain = {
  readonly workspaceId: string
  readonly seq: number
  /** Hash of the newest link, '' before the first. */
  readonly head: string
  /** Characters of all statements together. */
  readonly size: number
  readonly epoch: number
  readonly keyCommitment: string
  /** The link with which the epoch began. */
  readonly epochSince: number
  readonly isDeleted: boolean
  readonly members: ReadonlyMap<string, Member>
  readonly allowlist: ReadonlySet<string>
  readonly revokedTokens: ReadonlySet<string>
  /** The number of each link, by its hash. */
  readonly positions: ReadonlyMap<string, number>
  /** The periods of each person, oldest first. */
  readonly history: ReadonlyMap<string, readonly Period[]>
  /** The current owner of each address and key. */
  readonly taken: ReadonlyMap<string, string>
}

/** A mutable copy of the state, which a link changes. */
export type ChainDraft = {
  -readonly [Field in keyof Chain]: Chain[Field] extends ReadonlySet<infer T>
    ? Set<T>
    : Chain[Field] extends ReadonlyMap<infer K, infer V>
      ? Map<K, V extends readonly (infer P)[] ? P[] : V>
      : Chain[Field]
}

/** The chain before its first link. */
export function emptyChain(workspaceId: string): Chain {
  return {
    workspaceId,
    seq: 0,
    head: '',
    size: 0,
    epoch: 0,
    keyCommitment: '',
    epochSince: 0,
    isDeleted: false,
    members: new Map(),
    allowlist: new Set(),
    revokedTokens: new Set(),
    positions: new Map(),
    history: new Map(),
    taken: new Map(),
  }
}

/** A separate draft. */
export function copyOf(chain: Chain): ChainDraft {
  const { members, allowlist, revokedTokens, positions, history, taken } = chain
  return {
    ...chain,
    members: new Map(members),
    allowlist: new Set(allowlist),
    revokedTokens: new Set(revokedTokens),
    positions: new Map(positions),
    history: new Map([...history].map(([userId, periods]) => [userId, [...periods]])),
    taken: new Map(taken),
  }
}

/** Returns a person's period at a link; null before the first one. */
export function periodAt({ history }: Chain, userId: string, seq: number): Period | null {
  return history.get(userId)?.findLast(({ since }) => since <= seq) ?? null
}

/** Whether a member with the key of this epoch has left, can no longer store, or has new keys. */
export function isRekeyDue({ history, epochSince }: Chain): boolean {
  return [...history.values()].some((periods) =>
    periods.some(({ since, role, signingKey }, at) => {
      const before = periods[at - 1]
      if (since <= epochSince || !before?.role) return false
      const isReaderNow = role === 'read_only' && before.role !== 'read_only'
      return role === null || isReaderNow || signingKey !== before.signingKey
    }),
  )
}
