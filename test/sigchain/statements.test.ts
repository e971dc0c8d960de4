// tier: quick
/** Grants, envelope statements and manifests on any history: the signers who count, and for how long. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sha256 } from '../../src/core/crypto/primitives.ts'
import {
  type Chain,
  hashOf,
  isSameGrant,
  type LinkChange,
  manifestRoot,
  Refusal,
  replay,
  type SeenManifest,
  signLink,
  signText,
  verifyEnvelope,
  verifyGrant,
  verifyManifest,
} from '../../src/sigchain/index.ts'
import { effort } from '../support/effort.ts'
import { type History, historyOf, keysOf, type Model, steps, userId } from './histories.ts'

const HERE = '01920000-0000-8000-8000-000000000100'
const TOKEN = '01920000-0000-8000-8000-000000000499'
const PROJECT = '01920000-0000-7000-8000-000000000200'
const PUBLIC_KEY = 'LY77dLKWuz5iJogzrgOtdZvtLXmhSBZDh40qJczyJH0='
const NOW = new Date('2026-11-22T00:00:00.000Z')
const DAY = 86_400_000
const numRuns = effort(100, 400)

const place = { project_id: PROJECT, environment: 'production' }
const scope = { projectId: PROJECT, environment: 'production' }
const rows = new Map([['KEY', sha256('value')]])
const envelope = new Uint8Array(113).fill(1)
const envelopeHash = sha256(envelope).toBase64({ alphabet: 'base64url', omitPadding: true })

/** The facts about a signer: the person, the keys, and the newest known link. */
type Signing = { signer: number; keys: number; headSeq: number }

async function about(history: History, { signer, headSeq }: Signing) {
  const head = await hashOf(history.links[headSeq - 1]?.statement ?? '')
  return { v: 2, workspace_id: HERE, head, signer: userId(signer) } as const
}

async function signGrant(
  history: History,
  signing: Signing,
  expires_at: string | null = null,
  label = 'ci',
) {
  const { signingKey } = await keysOf(signing.signer, signing.keys)
  const grant = {
    ...(await about(history, signing)),
    ...place,
    token_id: TOKEN,
    kind: 'workload',
    agent_id: null,
    label,
    public_key: PUBLIC_KEY,
    expires_at,
  } as const
  return signText('grant', { ...grant, capabilities: ['read'] }, signingKey)
}

async function signEnvelope(history: History, signing: Signing, epoch: number) {
  const { signingKey } = await keysOf(signing.signer, signing.keys)
  const text = { ...place, token_id: TOKEN, epoch, envelope_sha256: envelopeHash }
  return signText('envelope', { ...(await about(history, signing)), ...text }, signingKey)
}

async function signManifest(history: History, signing: Signing, epoch: number, revision = 1) {
  const { signingKey } = await keysOf(signing.signer, signing.keys)
  const text = { ...place, epoch, revision, root: await manifestRoot(rows) }
  return signText('manifest', { ...(await about(history, signing)), ...text }, signingKey)
}

async function outcome(work: Promise<unknown>): Promise<boolean> {
  const error = await work.then(() => null).catch((reason: unknown) => reason)
  if (error !== null) expect(error).toBeInstanceOf(Refusal)
  return error === null
}

/** Owner or admin with these keys in every state from the head on. */
function isUnbroken({ models }: History, { signer, keys, headSeq }: Signing): boolean {
  return models.slice(headSeq - 1).every(({ members }) => {
    const somebody = members.get(signer)
    return somebody?.keys === keys && ['owner', 'admin'].includes(somebody.role)
  })
}

function couldWrite(model: Model | undefined, { signer, keys }: Signing): boolean {
  const somebody = model?.members.get(signer)
  return somebody?.keys === keys && somebody.role !== 'read_only'
}

/** Any history with any signing on it, and its result; some must be valid, and some not. */
async function forAny(
  check: (history: History, chain: Chain, signing: Signing, last: Model) => Promise<boolean>,
): Promise<void> {
  const counts = { good: 0, bad: 0 }
  const numbers = fc.tuple(fc.nat({ max: 4 }), fc.nat({ max: 1 }), fc.nat({ max: 1000 }))
  const property = fc.asyncProperty(steps, numbers, async (tried, [signer, keys, place]) => {
    const history = await historyOf(HERE, tried)
    const last = history.models.at(-1)
    if (last === undefined || last.isDeleted) return
    const headSeq = 1 + (place % history.links.length)
    const chain = await replay(HERE, history.links)
    const isGood = await check(history, chain, { signer, keys, headSeq }, last)
    counts[isGood ? 'good' : 'bad']++
  })
  await fc.assert(property, { numRuns })
  expect(Math.min(counts.good, counts.bad)).toBeGreaterThan(numRuns / 50)
}

describe('any history', () => {
  test('a grant counts while its signer stays an administrator without interruption, with these keys', () =>
    forAny(async (history, chain, signing) => {
      const signed = await signGrant(history, signing)
      const isGood = await outcome(verifyGrant(chain, signed, { id: TOKEN }, NOW))
      expect(isGood).toBe(isUnbroken(history, signing))
      return isGood
    }))

  test('the statement of an envelope counts by the same rule, in the current epoch, signed in it', () =>
    forAny(async (history, chain, signing, { epoch }) => {
      const entry = { tokenId: TOKEN, ...scope, epoch, envelope }
      const signed = await signEnvelope(history, signing, epoch)
      const isGood = await outcome(verifyEnvelope(chain, signed, entry))
      const isOfNow = history.models[signing.headSeq - 1]?.epoch === epoch
      expect(isGood).toBe(isOfNow && isUnbroken(history, signing))
      return isGood
    }))

  test('a manifest counts if its signer could write at its head, in the current epoch, signed in it', () =>
    forAny(async (history, chain, signing, { epoch }) => {
      const signed = await signManifest(history, signing, epoch)
      const isGood = await outcome(verifyManifest(chain, signed, { ...scope, rows }))
      const then = history.models[signing.headSeq - 1]
      expect(isGood).toBe(then?.epoch === epoch && couldWrite(then, signing))
      return isGood
    }))
})

describe('a manifest after a known one', () => {
  async function shown(revision: number, headSeq: number, seen?: SeenManifest) {
    const step = { signer: 0, some: [1], others: [], roles: ['member' as const] }
    const history = await historyOf(HERE, [{ kind: 'put', ...step }])
    expect(history.links.length).toBe(2)
    const chain = await replay(HERE, history.links)
    const signed = await signManifest(history, { signer: 0, keys: 0, headSeq }, 1, revision)
    return outcome(verifyManifest(chain, signed, { ...scope, rows, seen }))
  }
  const seen = { revision: 7, root: '', headSeq: 2 }

  test('a manifest names no older link than the known one', async () => {
    expect(await shown(8, 2, seen)).toBe(true)
    expect(await shown(8, 1, seen)).toBe(false)
    // Kept by a client without the newer state.
    expect(await shown(8, 1, { ...seen, headSeq: undefined })).toBe(true)
  })

  test('a manifest has no revision that leaves none to write with', async () => {
    expect(await shown(2 ** 30, 2)).toBe(true)
    expect(await shown(2 ** 31 - 1, 2)).toBe(false)
    expect(await shown(7 + 2 ** 20, 2, seen)).toBe(true)
    expect(await shown(8 + 2 ** 20, 2, seen)).toBe(false)
  })
})

test("a person who returns under a member's ID with other keys has none of the member's signatures, and cannot sign for that time", async () => {
  const [founder, first, second] = [await keysOf(0, 0), await keysOf(1, 0), await keysOf(1, 1)]
  const by = { at: NOW.toISOString(), signer: userId(0) }
  const admin = (keys: typeof first, email: string) => ({
    user_id: userId(1),
    email,
    signing_key: keys.signing_key,
    public_key: keys.public_key,
    role: 'admin' as const,
  })
  const history = await historyOf(HERE, [])
  const said: LinkChange[] = [
    { ...by, type: 'members.put', body: { members: [admin(first, 'first@x.example')] } },
    { ...by, type: 'members.removed', body: { user_ids: [userId(1)] } },
    { ...by, type: 'members.put', body: { members: [admin(second, 'second@x.example')] } },
  ]
  for (const change of said) {
    const chain = await replay(HERE, history.links)
    history.links.push(await signLink(chain, change, founder.signingKey))
  }
  const chain = await replay(HERE, history.links)
  const holds = async (keys: number, headSeq: number) => {
    const grant = await signGrant(history, { signer: 1, keys, headSeq })
    return outcome(verifyGrant(chain, grant, { id: TOKEN }, NOW))
  }
  expect(await holds(0, 2)).toBe(false)
  expect(await holds(1, 2)).toBe(false)
  expect(await holds(0, 4)).toBe(false)
  expect(await holds(1, 4)).toBe(true)
  const stores = async (keys: number, headSeq: number) => {
    const signed = await signManifest(history, { signer: 1, keys, headSeq }, 1)
    return outcome(verifyManifest(chain, signed, { ...scope, rows }))
  }
  // Stored values stay valid, and are not ones that the other person could have signed.
  expect(await stores(0, 2)).toBe(true)
  expect(await stores(1, 2)).toBe(false)
  expect(await stores(0, 4)).toBe(false)
})

describe('a statement', () => {
  const founding = { signer: 0, keys: 0, headSeq: 1 }

  test('a statement with another character in its text or signature is rejected', async () => {
    const history = await historyOf(HERE, [])
    const chain = await replay(HERE, history.links)
    const grant = await signGrant(history, founding)
    for (const field of ['statement', 'signature'] as const) {
      for (let at = 0; at < grant[field].length; at++) {
        const other = grant[field][at] === 'x' ? 'y' : 'x'
        const text = grant[field].slice(0, at) + other + grant[field].slice(at + 1)
        const isGood = await outcome(
          verifyGrant(chain, { ...grant, [field]: text }, { id: TOKEN }, NOW),
        )
        expect(isGood).toBe(false)
      }
    }
    expect(await outcome(verifyGrant(chain, grant, { id: TOKEN }, NOW))).toBe(true)
  })

  test('a statement has at most 64 KiB, in bytes, and no lone surrogate', async () => {
    const history = await historyOf(HERE, [])
    const chain = await replay(HERE, history.links)
    const signLabel = (label: string) => signGrant(history, founding, null, label)
    const { statement } = await signLabel('')
    const room = 65_536 - statement.length
    const full = await signLabel('é'.repeat(room >> 1) + 'x'.repeat(room & 1))
    expect(await outcome(verifyGrant(chain, full, { id: TOKEN }, NOW))).toBe(true)
    for (const label of ['é'.repeat((room >> 1) + 1), '\ud800', 'a\udc00b']) {
      await expect(signLabel(label)).rejects.toMatchObject({ reason: 'form' })
    }
    const escaped = { ...full, statement: statement.replace('"label":""', '"label":"\\ud800"') }
    const verified = verifyGrant(chain, escaped, { id: TOKEN }, NOW)
    await expect(verified).rejects.toMatchObject({ reason: 'form', subject: 'the grant' })
  })

  test('a statement counts for nothing in a deleted workspace', async () => {
    const step = { kind: 'delete' as const, signer: 0, some: [0], others: [], roles: [] }
    const history = await historyOf(HERE, [step])
    const chain = await replay(HERE, history.links)
    const grant = await signGrant(history, founding)
    const verified = verifyGrant(chain, grant, { id: TOKEN }, NOW)
    await expect(verified).rejects.toMatchObject({ reason: 'order', subject: 'the grant' })
  })
})

describe('a grant', () => {
  const end = '2026-11-22T10:00:00.000Z'

  test.each([
    ['holds until its end', 0, true],
    ['holds for a day after it, when the database must know', DAY - 1, true],
    ['is over then, whatever the database says', DAY, false],
  ])('%s', async (_, late, isGood) => {
    const history = await historyOf(HERE, [])
    const chain = await replay(HERE, history.links)
    const grant = await signGrant(history, { signer: 0, keys: 0, headSeq: 1 }, end)
    const now = new Date(Date.parse(end) + late)
    expect(await outcome(verifyGrant(chain, grant, { id: TOKEN }, now))).toBe(isGood)
  })

  test('a grant that is signed again states the same, except for head and signer', async () => {
    const history = await historyOf(HERE, [])
    const signed = await signGrant(history, { signer: 0, keys: 0, headSeq: 1 })
    const chain = await replay(HERE, history.links)
    const grant = await verifyGrant(chain, signed, { id: TOKEN }, NOW)
    const head = await hashOf('another')
    expect(isSameGrant(grant, { ...grant, head, signer: userId(1) })).toBe(true)
    expect(isSameGrant(grant, { ...grant, label: 'other' })).toBe(false)
    expect(isSameGrant(grant, { ...grant, capabilities: ['use', 'read'] })).toBe(false)
    expect(isSameGrant(grant, { ...grant, expires_at: end })).toBe(false)
  })
})
