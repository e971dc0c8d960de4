// tier: quick
/** Properties of every history of a workspace, and links that are rejected in each. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type Chain,
  emptyChain,
  extend,
  Refusal,
  replay,
  requireContinues,
  type SignedText,
} from '../../src/sigchain/index.ts'
import { effort } from '../support/effort.ts'
import { historyOf, type Model, steps, userId } from './histories.ts'

const HERE = '01920000-0000-8000-8000-000000000100'
const THERE = '01920000-0000-8000-8000-000000000101'
const numRuns = effort(40, 200)
const index = fc.nat({ max: 1_000_000 })

/** The given number of positions in a list, from any number. */
const at = (number: number, length: number) => number % length

async function refused(work: Promise<unknown>): Promise<void> {
  expect(await work.then(() => 'accepted').catch((error: unknown) => error)).toBeInstanceOf(Refusal)
}

function shown(chain: Chain) {
  return {
    members: Object.fromEntries([...chain.members].map(([id, { role }]) => [id, role])),
    allowlist: [...chain.allowlist].sort(),
    revoked: [...chain.revokedTokens].sort(),
    epoch: chain.epoch,
    isDeleted: chain.isDeleted,
  }
}

function expected({ members, allowlist, revoked, epoch, isDeleted }: Model) {
  return {
    members: Object.fromEntries([...members].map(([person, { role }]) => [userId(person), role])),
    allowlist: [...allowlist].sort(),
    revoked: [...revoked].sort(),
    epoch,
    isDeleted,
  }
}

/** A text with a different character at one position. */
function changed(text: string, place: number, shift: number): string {
  const code = text.charCodeAt(at(place, text.length))
  const other = String.fromCharCode(((code - 32 + 1 + at(shift, 94)) % 95) + 32)
  const before = text.slice(0, at(place, text.length))
  return before + other + text.slice(before.length + 1)
}

describe('any history', () => {
  test('any history is accepted link by link, and results in the same state', async () => {
    const property = fc.asyncProperty(steps, async (tried) => {
      const { links, models } = await historyOf(HERE, tried)
      for (const [place, model] of models.entries()) {
        expect(shown(await replay(HERE, links.slice(0, place + 1)))).toEqual(expected(model))
      }
    })
    await fc.assert(property, { numRuns })
  })

  test('any history is rejected with a link that its signer may not sign or that does not fit', async () => {
    let wrong = 0
    const property = fc.asyncProperty(steps, async (tried) => {
      const history = await historyOf(HERE, tried)
      wrong += history.wrong.length
      for (const { after, link } of history.wrong) {
        await refused(replay(HERE, [...history.links.slice(0, after), link]))
      }
    })
    await fc.assert(property, { numRuns })
    expect(wrong).toBeGreaterThan(numRuns)
  })

  test('any history is continued from any link, on a copy of the state, which stays unchanged', async () => {
    const property = fc.asyncProperty(steps, index, async (tried, place) => {
      const { links } = await historyOf(HERE, tried)
      const border = at(place, links.length + 1)
      const before = await extend(emptyChain(HERE), links.slice(0, border))
      const kept = structuredClone(before)
      expect(await extend(kept, links.slice(border))).toEqual(await replay(HERE, links))
      expect(kept).toEqual(before)
    })
    await fc.assert(property, { numRuns })
  })
})

describe('changes of any history that are rejected', () => {
  /** Lets a property damage a valid list of links; the returned list must not verify. */
  async function neverVerifies(
    damage: (links: SignedText[], one: number, other: number) => SignedText[] | null,
    workspaceId = HERE,
  ): Promise<void> {
    let damaged = 0
    const property = fc.asyncProperty(steps, index, index, async (tried, one, other) => {
      const { links } = await historyOf(HERE, tried)
      const bad = damage([...links], one, other)
      if (bad === null) return
      damaged++
      await refused(replay(workspaceId, bad))
    })
    await fc.assert(property, { numRuns: 2 * numRuns })
    expect(damaged).toBeGreaterThan(numRuns)
  }

  test('a text with another byte is rejected', () =>
    neverVerifies((links, one, other) => {
      const link = links[at(one, links.length)]
      if (link === undefined) return null
      const statement = changed(link.statement, other, one)
      return links.with(at(one, links.length), { ...link, statement })
    }))

  test('a signature with another byte is rejected', () =>
    neverVerifies((links, one, other) => {
      const link = links[at(one, links.length)]
      if (link === undefined) return null
      const signature = changed(link.signature, other, one)
      return links.with(at(one, links.length), { ...link, signature })
    }))

  test('a truncated text is rejected', () =>
    neverVerifies((links, one, other) => {
      const link = links[at(one, links.length)]
      if (link === undefined) return null
      const statement = link.statement.slice(0, at(other, link.statement.length))
      return links.with(at(one, links.length), { ...link, statement })
    }))

  test('another order of the links is rejected', () =>
    neverVerifies((links, one, other) => {
      const [a, b] = [at(one, links.length), at(other, links.length)]
      const [first, second] = [links[a], links[b]]
      if (a === b || first === undefined || second === undefined) return null
      return links.with(a, second).with(b, first)
    }))

  test('a link missing before the last is rejected', () =>
    neverVerifies((links, one) =>
      links.length < 2 ? null : links.toSpliced(at(one, links.length - 1), 1),
    ))

  test('a repeated link is rejected', () =>
    neverVerifies((links, one, other) => {
      const link = links[at(one, links.length)]
      return link === undefined ? null : links.toSpliced(at(other, links.length + 1), 0, link)
    }))

  test('the history is rejected in another workspace', () => neverVerifies((links) => links, THERE))

  test('a link of another workspace of the same people is rejected', async () => {
    const property = fc.asyncProperty(steps, index, index, async (tried, one, other) => {
      const { links } = await historyOf(HERE, tried)
      const theirs = await historyOf(THERE, tried)
      const [place, foreign] = [at(one, links.length), at(other, theirs.links.length)]
      for (const removed of [0, 1]) {
        const [link] = theirs.links.slice(removed === 0 ? foreign : place)
        if (link !== undefined) await refused(replay(HERE, links.toSpliced(place, removed, link)))
      }
    })
    await fc.assert(property, { numRuns })
  })

  test('a history that is shortened or replaced after the known part is rejected', async () => {
    const property = fc.asyncProperty(steps, steps, index, async (tried, otherwise, place) => {
      const { links } = await historyOf(HERE, tried)
      const full = await replay(HERE, links)
      const border = 1 + at(place, links.length)
      const cut = await replay(HERE, links.slice(0, border))
      requireContinues(full, cut)
      const isCut = border < links.length
      const continues = async () => requireContinues(cut, full)
      if (isCut) await refused(continues())
      const fork = await historyOf(HERE, otherwise)
      const forked = await replay(HERE, fork.links)
      const isFork = fork.links.at(links.length - 1)?.statement !== links.at(-1)?.statement
      if (isFork) await refused((async () => requireContinues(forked, full))())
    })
    await fc.assert(property, { numRuns })
  })
})
