/**
 * The chains of signed workspaces, as this process has verified them: once, then continued link by link. Seen links are
 * remembered, so a database that returns to an older state, or shows another one, is detected. Only committed links may
 * be read into it.
 */
import { Fault, messageOf } from '../../core/fault.ts'
import { LruMap } from '../../core/lru.ts'
import {
  type Chain,
  emptyChain,
  extend,
  hashOf,
  Refusal,
  replay,
  requireContinues,
  type SignedText,
} from '../../sigchain/index.ts'
import { extendOnThread } from './chain_thread.ts'
import { SeenStates } from './seen_states.ts'

/** Links that are read together at most, by servers and clients (protocol 12.1). */
export const LINKS_PAGE = 500
/** The maximum links, and characters, of a chain. */
const MAX_LINKS = 100_000
const MAX_SIZE = 64 * 1_048_576
/** From this many links on, they are verified on another thread: some ten milliseconds. */
const MANY_LINKS = 200

/** The links after a number, in order: at most a page of them, fewer only where the chain ends. */
export type ReadStoredLinks = (after: number) => Promise<SignedText[]>

/** Chains, and links of all of them: one takes about 100 bytes. */
const MAX_CHAINS = 1000
const MAX_KEPT_LINKS = 500_000

export class ChainCache {
  readonly #chains = new LruMap<string, Chain>({ max: MAX_CHAINS, onEvict: (it) => this.#drop(it) })
  readonly seen: SeenStates
  readonly #last = new Map<string, Promise<unknown>>()
  #keptLinks = 0

  /** `seen` has the longest chain of each workspace that was ever verified. */
  constructor(seen = new SeenStates()) {
    this.seen = seen
  }

  /** Whether it is cached, so that it can be extended quickly. */
  has(workspaceId: string): boolean {
    return this.#chains.peek(workspaceId) !== undefined
  }

  /**
   * The chain of a workspace, verified to its end.
   *
   * @throws Fault `unverified_state`
   */
  async of(workspaceId: string, read: ReadStoredLinks): Promise<Chain> {
    try {
      return await this.#read(workspaceId, read)
    } catch (error) {
      throw error instanceof Refusal ? buildUnverifiedFault(error) : error
    }
  }

  async #read(workspaceId: string, read: ReadStoredLinks): Promise<Chain> {
    const seen = this.seen.get(workspaceId)
    const known = this.#chains.get(workspaceId) ?? emptyChain(workspaceId)
    // Also read the newest known link again: if it is still present, nothing was cut off.
    const links = await readAll(read, Math.max(0, known.seq - 1))
    return this.#runInTurn(workspaceId, async () => {
      const chain = await extendChain(this.#longer(known), known, links)
      if (seen) requireContinues(chain, { seq: seen.number, head: seen.hash })
      this.#keep(chain, seen?.number)
      return chain
    })
  }

  /** Returns the longer chain if another request has verified one in the meantime. */
  #longer(known: Chain): Chain {
    const kept = this.#chains.peek(known.workspaceId)
    return kept && kept.seq > known.seq ? kept : known
  }

  /** Runs one task at a time within a workspace. A waiting task holds no database connection. */
  async #runInTurn<T>(workspaceId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(workspaceId)
    const run = before ? before.then(work, work) : work()
    this.#last.set(workspaceId, run)
    try {
      return await run
    } finally {
      if (this.#last.get(workspaceId) === run) this.#last.delete(workspaceId)
    }
  }

  #keep(chain: Chain, before = 0): void {
    const { workspaceId, seq, head } = chain
    const kept = this.#chains.get(workspaceId)
    if (kept) this.#drop(kept)
    this.#keptLinks += seq
    this.#chains.set(workspaceId, chain)
    if (seq > before) this.seen.see(workspaceId, { number: seq, hash: head, head: seq })
    for (const [oldest, other] of this.#chains) {
      if (this.#keptLinks <= MAX_KEPT_LINKS || other === chain) break
      this.#chains.delete(oldest)
      this.#drop(other)
    }
  }

  #drop({ seq }: Chain): void {
    this.#keptLinks -= seq
  }
}

/** Whether a link of this many characters fits, with the reserved space left. */
export function hasRoomFor(
  { seq, size }: Pick<Chain, 'seq' | 'size'>,
  characters: number,
  reserved = { links: 0, size: 0 },
): boolean {
  return seq < MAX_LINKS - reserved.links && size + characters <= MAX_SIZE - reserved.size
}

async function readAll(read: ReadStoredLinks, after: number): Promise<SignedText[]> {
  const links: SignedText[] = []
  let size = 0
  for (;;) {
    const page = await read(after + links.length)
    for (const link of page) {
      const { length } = link.statement
      if (!hasRoomFor({ seq: links.length, size }, length)) throw buildTooLongRefusal()
      links.push(link)
      size += length
    }
    if (page.length < LINKS_PAGE) return links
  }
}

function buildTooLongRefusal(): Refusal {
  return new Refusal('rule', 'it is too long', 'the chain')
}

/** `links` begin with the newest link of `known`, or with the first. `chain` is `known` or a later state of it. */
async function extendChain(
  chain: Chain,
  known: Chain,
  links: readonly SignedText[],
): Promise<Chain> {
  if (links.length === 0) return replay(chain.workspaceId, links)
  const first = Math.max(1, known.seq)
  const last = Math.min(chain.seq, first + links.length - 1)
  const shown = links[last - first]
  if (shown) requireContinues(chain, { seq: last, head: await hashOf(shown.statement) })
  const rest = links.slice(last - first + 1)
  if (rest.length === 0) return chain
  return rest.length > MANY_LINKS ? extendOnThread(chain, rest) : extend(chain, rest)
}

/** The fault for refused stored state, which is not used. */
export function buildUnverifiedFault(refusal: Refusal): Fault {
  const message = `${messageOf('unverified_state')} ${refusal.message}.`
  return new Fault('unverified_state', { message, cause: refusal })
}
