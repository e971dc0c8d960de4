// tier: quick
/** The state of a signed workspace that a client accepts from a lying server, and how it signs beside other clients. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { ApiError } from '../../src/client/http/api.ts'
import {
  Chains,
  type KnownChain,
  type KnownChains,
  UntrustedChain,
} from '../../src/client/signed/chain.ts'
import { type LinkText, ownId, signChange } from '../../src/client/signed/sign_change.ts'
import { toPlainWorkspace } from '../../src/client/workspace.ts'
import { keyCommitment } from '../../src/core/crypto/key_commitment.ts'
import {
  emptyChain,
  extend,
  type Identity,
  identityOf,
  type LinkChange,
  type SignedText,
  signLink,
} from '../../src/sigchain/index.ts'

const AT = '2026-11-22T00:00:00.000Z'
const ADA = '01920000-0000-7000-8000-000000000010'
const HERE = { id: '01920000-0000-8000-8000-000000000100', name: 'acme' }
const THERE = { id: '01920000-0000-8000-8000-000000000101', name: 'other' }
const KEY = new Uint8Array(32).fill(7)

const identity = await identityOf(new Uint8Array(32).fill(1))
const stranger = await identityOf(new Uint8Array(32).fill(2))

const domains = (...add: string[]): LinkChange => ({
  type: 'allowlist.changed',
  body: { add, remove: [] },
  at: AT,
  signer: ADA,
})

async function created({ id }: { id: string }, { signing_key, public_key }: Identity) {
  const founder = { user_id: ADA, email: 'ada@example.com', signing_key, public_key }
  const body = { founder, epoch: 1, key_commitment: keyCommitment(id, 1, KEY) } as const
  return { type: 'workspace.created', body, at: AT, signer: ADA } as const
}

/** Links from the first on, each based on the previous ones. */
async function linksOf(where: { id: string }, by: Identity, ...changes: LinkChange[]) {
  let chain = emptyChain(where.id)
  const links: SignedText[] = []
  for (const change of [await created(where, by), ...changes]) {
    const link = await signLink(chain, change, by.signingKey)
    chain = await extend(chain, [link])
    links.push(link)
  }
  return links
}

const ours = await linksOf(HERE, identity, domains('a.example'), domains('b.example'))
const fork = await linksOf(HERE, identity, domains('a.example'), domains('evil.example'))
const theirs = await linksOf(HERE, stranger, domains('a.example'), domains('b.example'))
const others = await linksOf(THERE, identity)

/** The server's current links, and a log of its requests. */
let served: SignedText[] = []
let asked: number[] = []
let notices: string[] = []
let store = new Map<string, KnownChain>()

const known: KnownChains = {
  of: (id) => store.get(id),
  remember: (id, chain) => store.set(id, chain),
  manifestOf: () => undefined,
  rememberManifest: () => {},
}

/** The chains the way another command opens them. */
function opened(): Chains {
  const readLinks = async (_: string, after: number) => {
    asked.push(after)
    return served.slice(after, after + 500)
  }
  return new Chains(readLinks, known, {
    met: ({ name }) => notices.push(`met ${name}`),
    rekeyed: ({ name }, epoch) => notices.push(`${name} ${epoch}`),
  })
}

beforeEach(() => {
  served = [...ours]
  asked = []
  notices = []
  store = new Map()
})

describe('reading', () => {
  test('a workspace is pinned once, and read once for each command', async () => {
    const chains = opened()
    const [one, other] = await Promise.all([chains.of(HERE), chains.of(HERE)])
    expect([...one.allowlist]).toEqual(['a.example', 'b.example'])
    expect(other).toBe(one)
    expect(asked).toEqual([0])
    expect((await opened().of(HERE)).head).toBe(one.head)
    expect(notices).toEqual(['met acme'])
  })

  test('a chain that is read ahead is valid although another command reads more meanwhile', async () => {
    served = ours.slice(0, 2)
    await opened().of(HERE)
    const chains = opened()
    chains.readAhead(HERE)
    await null
    served = ours
    await opened().of(HERE)
    expect((await chains.of(HERE)).seq).toBe(2)
    expect(asked).toEqual([0, 0, 0])
  })

  test('a workspace that is new to this machine is not read ahead, and its failure is not cached', async () => {
    const chains = opened()
    chains.readAhead(HERE)
    await null
    expect(asked).toEqual([])
    await chains.of(HERE)
    const next = opened()
    served = theirs
    next.readAhead(HERE)
    await expect(next.of(HERE)).rejects.toBeInstanceOf(UntrustedChain)
    served = ours
    expect((await next.of(HERE)).seq).toBe(3)
  })

  test('links that were added since continue the chain that was read', async () => {
    served = ours.slice(0, 2)
    const chains = opened()
    await chains.of(HERE)
    served = ours
    expect((await chains.readNewerLinks(HERE)).seq).toBe(3)
    expect(asked).toEqual([0, 2])
    expect(store.get(HERE.id)?.seq).toBe(3)
  })

  test('a chain of several pages is read to its end', async () => {
    const many = Array.from({ length: 600 }, (_, at) => domains(`h${at}.example`))
    served = await linksOf(HERE, identity, ...many)
    expect((await opened().of(HERE)).allowlist.size).toBe(600)
    expect(asked).toEqual([0, 500])
  })

  test.each([
    ['no links', []],
    ['another chain from its first link on', theirs],
    ['links of another workspace', others],
    ['a chain that was cut', ours.slice(0, 2)],
    ['a chain that was forked', fork],
    ['links in another order', [ours[0], ours[2], ours[1]]],
    ['a link left out', [ours[0], ours[2]]],
    ['a link of somebody else', [...ours, theirs[2]]],
    ['a link twice', [...ours, ours[2]]],
  ])('%s is rejected after the chain was seen, and the pinned state stays', async (_, shown) => {
    await opened().of(HERE)
    const before = store.get(HERE.id)
    served = shown as SignedText[]
    const refused = opened().of(HERE)
    await expect(refused).rejects.toThrow(UntrustedChain)
    await expect(refused).rejects.toThrow('the server data of acme does not match its signatures')
    expect(store.get(HERE.id)).toEqual(before as KnownChain)
    served = ours
    expect((await opened().of(HERE)).seq).toBe(3)
  })

  test('a failure is not cached', async () => {
    const chains = opened()
    served = []
    await expect(chains.of(HERE)).rejects.toThrow('it is empty')
    served = ours
    expect((await chains.of(HERE)).seq).toBe(3)
  })
})

describe('the key', () => {
  const shown = (epoch: number, key: Uint8Array) => ({ ...HERE, epoch, key })

  test('the key is the committed one, and a known epoch needs no read', async () => {
    await opened().requireKey(shown(1, KEY))
    expect(asked).toEqual([0])
    await opened().requireKey(shown(1, KEY))
    expect(asked).toEqual([0])
  })

  test.each([
    ['another key', shown(1, new Uint8Array(32).fill(8)), 'its key is not the key of epoch 1'],
    ['an epoch that has not begun', shown(2, KEY), 'its key has epoch 2, not 1'],
  ])('%s is rejected, pinned or not', async (_, workspace, why) => {
    for (let time = 0; time < 2; time += 1)
      await expect(opened().requireKey(workspace)).rejects.toThrow(why)
  })

  test('the key of the next epoch is accepted by its link, with a notice; the previous one is rejected', async () => {
    await opened().requireKey(shown(1, KEY))
    const next = new Uint8Array(32).fill(9)
    const body = { epoch: 2, key_commitment: keyCommitment(HERE.id, 2, next) }
    const chain = await opened().of(HERE)
    const change = { type: 'epoch.advanced', body, at: AT, signer: ADA } as const
    served = [...ours, await signLink(chain, change, identity.signingKey)]
    await opened().requireKey(shown(2, next))
    expect(notices).toEqual(['met acme', 'acme 2'])
    await expect(opened().requireKey(shown(1, KEY))).rejects.toThrow('its key has epoch 1, not 2')
  })
})

describe('signing', () => {
  /** A server that accepts what follows. */
  async function take(link: SignedText | undefined): Promise<string> {
    if (link === undefined) return 'nothing'
    const { seq } = JSON.parse(link.statement)
    if (seq !== served.length + 1) throw new ApiError(409, { error_code: 'conflict' })
    served.push(link)
    return 'taken'
  }
  const allow = (chains: Chains, domain: string, send = take) =>
    signChange(
      { chains, workspace: HERE, identity: async () => identity },
      ({ allowlist }) =>
        allowlist.has(domain)
          ? null
          : { type: 'allowlist.changed', body: { add: [domain], remove: [] } },
      send,
    )

  test('a change needs one read, and the next change of the same command none', async () => {
    const chains = opened()
    expect(await allow(chains, 'c.example')).toBe('taken')
    expect(await allow(chains, 'd.example')).toBe('taken')
    expect(asked).toEqual([0])
    expect(store.get(HERE.id)?.seq).toBe(5)
    expect([...(await opened().of(HERE)).allowlist].slice(2)).toEqual(['c.example', 'd.example'])
  })

  test('several concurrent changes all succeed, each once', async () => {
    const names = ['c', 'd', 'e', 'f'].map((name) => `${name}.example`)
    await Promise.all(names.map((name) => allow(opened(), name)))
    expect([...(await opened().of(HERE)).allowlist].slice(2).sort()).toEqual(names)
  })

  test('a change that someone else has made in the meantime is not signed again', async () => {
    const chains = opened()
    await chains.of(HERE)
    expect(await allow(opened(), 'c.example')).toBe('taken')
    expect(await allow(chains, 'c.example')).toBe('nothing')
    expect(served).toHaveLength(4)
  })

  test('a change that seemed to need no link is signed after all if someone else has undone it', async () => {
    const ours = opened()
    expect(await allow(ours, 'c.example')).toBe('taken')
    const remove: LinkText = { type: 'allowlist.changed', body: { add: [], remove: ['c.example'] } }
    const signing = { chains: opened(), workspace: HERE, identity: async () => identity }
    await signChange(signing, () => remove, take)
    const demanding = async (link: SignedText | undefined) => {
      if (link === undefined) throw new ApiError(422, { error_code: 'link_required' })
      return take(link)
    }
    expect(await allow(ours, 'c.example', demanding)).toBe('taken')
    expect((await opened().of(HERE)).allowlist.has('c.example')).toBe(true)
  })

  test('a conflict that no link explains is reported, and so is an endless one', async () => {
    const conflict = () => Promise.reject(new ApiError(409, { error_code: 'conflict' }))
    await expect(allow(opened(), 'c.example', conflict)).rejects.toThrow(ApiError)
    const required = () => Promise.reject(new ApiError(422, { error_code: 'link_required' }))
    await expect(allow(opened(), 'c.example', required)).rejects.toThrow(ApiError)
    let tries = 0
    const late = async () => {
      tries += 1
      await allow(opened(), `x${tries}.example`)
      return conflict()
    }
    await expect(allow(opened(), 'c.example', late)).rejects.toThrow(ApiError)
    expect(tries).toBe(10)
  })

  test('a plain workspace has nothing to sign, and no link is read', async () => {
    const workspace = { id: ADA, name: 'plain' }
    const send = async (...given: unknown[]) => given
    const judge = () => Promise.reject(new Error('asked'))
    expect(await toPlainWorkspace(workspace).change(judge, send)).toEqual([undefined, null])
    expect(asked).toEqual([])
  })

  test('a person who is not a member of the chain signs nothing', async () => {
    const chain = await opened().of(HERE)
    expect(ownId(chain, HERE, identity.signing_key)).toBe(ADA)
    expect(() => ownId(chain, HERE, stranger.signing_key)).toThrow(
      'its chain does not list you as a member',
    )
  })
})
