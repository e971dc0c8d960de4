// tier: quick
/** Chains are verified once and continued, and a process never accepts an older or different one. */
import { describe, expect, spyOn, test } from 'bun:test'
import { ChainCache, LINKS_PAGE } from '../../src/access/signed/chains.ts'
import {
  emptyChain,
  extend,
  identityOf,
  type LinkChange,
  replay,
  type SignedText,
} from '../../src/sigchain/index.ts'
import { firstLink, signedBy, signedId } from '../support/signed.ts'

const founder = {
  userId: Bun.randomUUIDv7(),
  email: 'ada@people.example',
  identity: await identityOf(new Uint8Array(32).fill(1)),
}

/** A chain of the given length, with one allowed domain per link. */
async function chainOf(workspaceId: string, count: number, suffix = ''): Promise<SignedText[]> {
  const links = [await firstLink(founder, { workspaceId, workspaceKey: new Uint8Array(32) })]
  let chain = await extend(emptyChain(workspaceId), links)
  while (links.length < count) {
    const add = [`h${links.length}${suffix}.example`]
    const said = {
      type: 'allowlist.changed',
      body: { add, remove: [] },
    } satisfies Partial<LinkChange>
    const link = await signedBy(founder, chain, said)
    chain = await extend(chain, [link])
    links.push(link)
  }
  return links
}

/** A table of links that can be changed, and a log of what was read. */
function stored(links: readonly SignedText[]) {
  const reads: number[] = []
  const table = { links, reads }
  const read = async (after: number) => {
    const page = table.links.slice(after, after + LINKS_PAGE)
    reads.push(page.length)
    return page
  }
  return { table, read }
}

const unverified = { code: 'unverified_state', status: 409 }

test('a chain is read and verified once, and later only its new links', async () => {
  const id = signedId()
  const links = await chainOf(id, 4)
  const { table, read } = stored(links.slice(0, 3))
  const chains = new ChainCache()
  const chain = await chains.of(id, read)
  expect(chain).toMatchObject({ workspaceId: id, seq: 3 })
  expect(await chains.of(id, read)).toBe(chain)
  table.links = links
  expect([...(await chains.of(id, read)).allowlist]).toEqual([
    'h1.example',
    'h2.example',
    'h3.example',
  ])
  // The newest known link is read together with the ones that follow.
  expect(table.reads).toEqual([3, 1, 2])
})

test('a chain of several pages is read to its end', async () => {
  const id = signedId()
  const { table, read } = stored(await chainOf(id, LINKS_PAGE + 1))
  const chain = await new ChainCache().of(id, read)
  expect(chain.seq).toBe(LINKS_PAGE + 1)
  expect(table.reads).toEqual([LINKS_PAGE, 1])
})

test('concurrent requests get one verified chain', async () => {
  const id = signedId()
  const { read } = stored(await chainOf(id, 20))
  const chains = new ChainCache()
  const all = await Promise.all(Array.from({ length: 8 }, () => chains.of(id, read)))
  expect(new Set(all).size).toBe(1)
})

test('a reader that began before a link was committed gets no older chain than the others', async () => {
  const id = signedId()
  const links = await chainOf(id, 3)
  const chains = new ChainCache()
  const early = Promise.withResolvers<SignedText[]>()
  const slow = chains.of(id, () => early.promise)
  const newer = await chains.of(id, stored(links).read)
  early.resolve(links.slice(0, 2))
  expect(await slow).toBe(newer)
})

describe('a chain that differs from the one that was seen is rejected, permanently:', () => {
  async function seen(count = 4) {
    const id = signedId()
    const links = await chainOf(id, count)
    const { table, read } = stored(links)
    const chains = new ChainCache()
    await chains.of(id, read)
    return { id, links, table, read, chains }
  }

  test('no links', async () => {
    const { id, table, links, read, chains } = await seen()
    table.links = []
    await expect(chains.of(id, read)).rejects.toMatchObject(unverified)
    table.links = links
    expect(await chains.of(id, read)).toMatchObject({ seq: 4 })
  })

  test('a chain that ends earlier', async () => {
    const { id, table, links, read, chains } = await seen()
    table.links = links.slice(0, 3)
    await expect(chains.of(id, read)).rejects.toMatchObject(unverified)
  })

  test('another chain, of the same length or longer', async () => {
    const { id, table, read, chains } = await seen()
    for (const count of [4, 6]) {
      table.links = await chainOf(id, count, '.other')
      await expect(chains.of(id, read)).rejects.toMatchObject(unverified)
    }
  })

  test('links after the last that do not follow it', async () => {
    const { id, table, links, read, chains } = await seen()
    const [other] = (await chainOf(id, 5, '.other')).slice(-1)
    table.links = [...links, ...(other ? [other] : [])]
    await expect(chains.of(id, read)).rejects.toMatchObject(unverified)
  })

  test('a differing chain is rejected also when the seen one is no longer in the cache', async () => {
    const { id, table, links, read, chains } = await seen()
    for (let others = 0; others < 1000; others += 1) {
      const other = signedId()
      await chains.of(other, stored(await chainOf(other, 1)).read)
    }
    table.links = links.slice(0, 3)
    await expect(chains.of(id, read)).rejects.toMatchObject(unverified)
    table.links = links
    table.reads.length = 0
    expect(await chains.of(id, read)).toMatchObject({ seq: 4 })
    expect(table.reads).toEqual([4])
  })
})

test('the error has a code, and none of the stored data', async () => {
  const id = signedId()
  const links = await chainOf(id, 3)
  const [first, , third] = links
  const { read } = stored(first && third ? [first, third] : [])
  await expect(new ChainCache().of(id, read)).rejects.toThrow(
    'The stored data of this signed workspace does not match its signatures. link 2 is refused: it does not continue the chain.',
  )
})

test('a workspace without links is rejected', async () => {
  await expect(new ChainCache().of(signedId(), stored([]).read)).rejects.toMatchObject(unverified)
})

describe('a long chain', () => {
  const count = LINKS_PAGE + 2

  test('a long chain is verified on another thread, to the same state', async () => {
    const id = signedId()
    const links = await chainOf(id, count)
    const verify = spyOn(crypto.subtle, 'verify')
    try {
      const chain = await new ChainCache().of(id, stored(links).read)
      expect(verify).not.toHaveBeenCalled()
      expect(chain).toEqual(await replay(id, links))
      expect(verify).toHaveBeenCalledTimes(count)
    } finally {
      verify.mockRestore()
    }
  })

  test('a long chain is rejected with its invalid link, and other chains are verified after it', async () => {
    const id = signedId()
    const links = await chainOf(id, count)
    const [table, read] = [
      stored(links),
      stored(links.toSpliced(count - 1, 0, links[0] ?? missing())),
    ]
    const chains = new ChainCache()
    await expect(chains.of(id, read.read)).rejects.toThrow(`link ${count} is refused`)
    expect(await chains.of(id, table.read)).toMatchObject({ seq: count })
  })

  test('an endless chain is not read endlessly', async () => {
    const [first = missing()] = await chainOf(signedId(), 1)
    let pages = 0
    const read = async () => {
      pages += 1
      return Array(LINKS_PAGE).fill(first)
    }
    await expect(new ChainCache().of(signedId(), read)).rejects.toMatchObject(unverified)
    expect(pages).toBe(201)
  })

  test('a long chain of long links is bounded in characters, too', async () => {
    const [first = missing()] = await chainOf(signedId(), 1)
    let pages = 0
    const read = async () => {
      pages += 1
      return Array(LINKS_PAGE).fill({ ...first, statement: 'x'.repeat(65_536) })
    }
    await expect(new ChainCache().of(signedId(), read)).rejects.toMatchObject(unverified)
    expect(pages).toBe(3)
  })
})

function missing(): never {
  throw new Error('a chain has a first link')
}
