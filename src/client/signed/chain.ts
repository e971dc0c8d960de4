/**
 * The chains of signed workspaces, as a client verifies them: read from the server, replayed, and compared with the
 * known state. A server can withhold new links, but cannot show unsigned members, hosts or keys, or a different
 * history.
 */
import { keyCommitment } from '../../core/crypto/key_commitment.ts'
import {
  type Chain,
  emptyChain,
  extend,
  type Link,
  Refusal,
  readFirstHash,
  readLink,
  replay,
  requireContinues,
  type SeenManifest,
  type SignedText,
} from '../../sigchain/index.ts'
import type { Named } from '../known_names.ts'
import { UntrustedKey, type WorkspaceKey } from '../workspace_key.ts'

/** News about a chain for a person. */
export type ChainNotices = {
  /** The workspace is new, so its first link is trusted. */
  met(workspace: Named, first: string): void
  rekeyed(workspace: Named, epoch: number): void
  /** It extends the known chain to that link number; `links` follow `before`. */
  went?(workspace: Named, links: readonly Link[], before: Chain, known: number): void
}

/** The stored data of a chain. */
export type KnownChain = {
  /** Hash of the first link. */
  first: string
  seq: number
  head: string
  epoch: number
  keyCommitment: string
}

export type KnownChains = {
  of(workspaceId: string): KnownChain | undefined
  /** Replaces the known state, unless another process has stored a newer one. */
  remember(workspaceId: string, known: KnownChain): void
  manifestOf(place: EnvironmentPlace): KnownManifest | undefined
  /** The stored data of an environment in a known workspace. */
  rememberManifest(place: EnvironmentPlace, known: KnownManifest): void
}
type EnvironmentPlace = { workspaceId: string; projectId: string; environment: string }
/** Files that older clients wrote do not have the number of the link that it names. */
export type KnownManifest = SeenManifest

/** The server data does not match the signatures. */
export class UntrustedChain extends UntrustedKey {
  constructor({ name }: Named, why: string, cause?: unknown) {
    super(`the server data of ${name} does not match its signatures: ${why}`, { cause })
  }
}

/** Links after a number, at most `LINKS_AT_ONCE`. */
export type LinkReader = (workspaceId: string, after: number) => Promise<readonly SignedText[]>

const LINKS_AT_ONCE = 500
const MOST_LINKS = 100_000

export class Chains {
  readonly #readLinks: LinkReader
  readonly #known: KnownChains
  readonly #notices: ChainNotices
  readonly #read = new Map<string, Promise<Chain>>()

  constructor(readLinks: LinkReader, known: KnownChains, notices: ChainNotices) {
    this.#readLinks = readLinks
    this.#known = known
    this.#notices = notices
  }

  /** A store without content or notifications. */
  createForgetfulChains(): Chains {
    const known = { ...this.#known, remember: () => {}, rememberManifest: () => {} }
    return new Chains(this.#readLinks, known, { met: () => {}, rekeyed: () => {} })
  }

  /** To its end, as that was when it was asked for first. @throws UntrustedChain */
  of(workspace: Named): Promise<Chain> {
    return this.#read.get(workspace.id) ?? this.readNewerLinks(workspace)
  }

  /**
   * Begins to read a chain that is known. The known state is read before the links are requested, because another
   * process may store a newer one meanwhile. Errors are thrown by the later read.
   */
  readAhead(workspace: Named): void {
    if (this.#known.of(workspace.id)) this.of(workspace).catch(() => {})
  }

  /** With the links that came since. @throws UntrustedChain */
  readNewerLinks(workspace: Named): Promise<Chain> {
    const { id } = workspace
    const before = this.#read.get(id) ?? Promise.resolve(emptyChain(id))
    return this.#keep(
      id,
      before.then((chain) => this.#readOn(workspace, chain)),
    )
  }

  /** The last seen state of an environment. */
  manifestOf(place: EnvironmentPlace): KnownManifest | undefined {
    return this.#known.manifestOf(place)
  }

  rememberManifest(place: EnvironmentPlace, known: KnownManifest): void {
    this.#known.rememberManifest(place, known)
  }

  /** The state by its links, from the first one. @throws UntrustedChain */
  async history(workspace: Named): Promise<Link[]> {
    const links: SignedText[] = []
    await this.#readOn(workspace, emptyChain(workspace.id), links)
    return links.map(readLink)
  }

  /** With a link that the server has taken. */
  append({ id }: Named, chain: Chain, link: SignedText): Promise<Chain> {
    const append = async () => {
      const next = await extend(chain, [link])
      this.#known.remember(id, knownOf(next))
      return next
    }
    return this.#keep(id, append())
  }

  /** Whether it is the key that an admin of the workspace has committed to. @throws UntrustedChain */
  async requireKey(workspace: WorkspaceKey): Promise<void> {
    const { id, epoch, key } = workspace
    const known = this.#known.of(id)
    const isKnown = known !== undefined && known.epoch >= epoch
    const expected = isKnown ? known : await this.of(workspace)
    if (epoch !== expected.epoch) {
      throw new UntrustedChain(workspace, `its key has epoch ${epoch}, not ${expected.epoch}`)
    }
    if (keyCommitment(id, epoch, key) !== expected.keyCommitment) {
      throw new UntrustedChain(workspace, `its key is not the key of epoch ${epoch}`)
    }
  }

  /** A failure is not kept. */
  #keep(id: string, reading: Promise<Chain>): Promise<Chain> {
    this.#read.set(id, reading)
    reading.catch(() => this.#read.delete(id))
    return reading
  }

  async #readOn(workspace: Named, before: Chain, read: SignedText[] = []): Promise<Chain> {
    const known = this.#known.of(workspace.id)
    try {
      const chain = await this.#replay(workspace.id, before, read)
      if (known !== undefined) requireContinues(chain, known)
      if (known?.head !== chain.head) this.#known.remember(workspace.id, knownOf(chain))
      if (known === undefined) this.#notices.met(workspace, readFirstHash(chain))
      else if (known.seq < chain.seq) {
        if (known.epoch < chain.epoch) this.#notices.rekeyed(workspace, chain.epoch)
        this.#notices.went?.(workspace, read.map(readLink), before, known.seq)
      }
      return chain
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      throw new UntrustedChain(workspace, error.message, error)
    }
  }

  async #replay(id: string, before: Chain, read: SignedText[]): Promise<Chain> {
    let chain = before
    for (;;) {
      const links = await this.#readLinks(id, chain.seq)
      read.push(...links)
      chain = chain.seq === 0 ? await replay(id, links) : await extend(chain, links)
      if (links.length < LINKS_AT_ONCE) return chain
      if (chain.seq > MOST_LINKS) throw new Refusal('order', 'it is too long', 'the chain')
    }
  }
}

export function knownOf(chain: Chain): KnownChain {
  const { seq, head, epoch, keyCommitment } = chain
  return { first: readFirstHash(chain), seq, head, epoch, keyCommitment }
}
