/** `bench sigchain` measures verifying a long chain, continuing one, and verifying the statements that name it. */
import { ChainCache, LINKS_PAGE } from '../../src/access/signed/chains.ts'
import { sha256 } from '../../src/core/crypto/primitives.ts'
import {
  type Chain,
  emptyChain,
  extend,
  hashOf,
  identityOf,
  type LinkChange,
  manifestRoot,
  replay,
  type SignedText,
  signLink,
  signText,
  verifyGrant,
  verifyManifest,
} from '../../src/sigchain/index.ts'
import { figure, markdownTable, median, timed } from './measure.ts'

const LINKS = 10_000
const ROUNDS = 5
const WORKSPACE = idOf(8, 1)
const OWNER = idOf(7, 2)
const TOKEN = idOf(8, 3)
const PROJECT = idOf(7, 4)
const AT = '2026-11-22T00:00:00.000Z'
const COMMITMENT = new Uint8Array(32).fill(1).toBase64()

function idOf(version: 7 | 8, number: number): string {
  return `01920000-0000-${version}000-8000-${number.toString(16).padStart(12, '0')}`
}

/** Links in the form in which the database returns them. */
function pagesOf(links: readonly SignedText[]) {
  return async (after: number) => links.slice(after, after + LINKS_PAGE)
}

export async function benchSigchain(): Promise<void> {
  const owner = await identityOf(new Uint8Array(32).fill(1))
  const links = await signChain(owner.signingKey)
  const chain = await replay(WORKSPACE, links)
  const shorter = (count: number) => replay(WORKSPACE, links.slice(0, LINKS - count))
  const [before500, before1] = [await shorter(500), await shorter(1)]
  const scope = { projectId: PROJECT, environment: 'production' }
  const rows = new Map(Array.from({ length: 1000 }, (_, at) => [`KEY_${at}`, sha256(`${at}`)]))
  const grant = await signGrant(chain, owner.signingKey)
  const manifest = await signManifest(chain, await manifestRoot(rows), owner.signingKey)
  const work: Record<string, () => Promise<unknown>> = {
    'a chain of 10,000 links': () => replay(WORKSPACE, links),
    'the same as a server does': () => new ChainCache().of(WORKSPACE, pagesOf(links)),
    '500 links onto 9,500': () => extend(before500, links.slice(-500)),
    'one link onto 9,999': () => extend(before1, links.slice(-1)),
    'a grant': () => verifyGrant(chain, grant, { id: TOKEN }, new Date(AT)),
    'a manifest of 1,000 secrets': () => verifyManifest(chain, manifest, { ...scope, rows }),
  }
  const figures: string[][] = []
  for (const [what, verify] of Object.entries(work)) {
    const [times, pauses]: number[][] = [[], []]
    for (let round = 0; round < ROUNDS; round++) {
      const pause = await longestPause(async () => void times?.push(await timed(verify)))
      pauses?.push(pause)
    }
    figures.push([what, figure(median(times ?? [])), figure(median(pauses ?? []))])
  }
  const head = ['verified', 'ms', 'longest turn of the event loop, ms']
  process.stdout.write(`${markdownTable(head, figures)}\n`)
}

/** The longest time in which no other work of this thread ran. */
async function longestPause(work: () => Promise<void>): Promise<number> {
  let [longest, last] = [0, performance.now()]
  const look = () => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }
  const watch = setInterval(look, 0)
  await work()
  look()
  clearInterval(watch)
  return longest
}

async function signChain(key: CryptoKey): Promise<SignedText[]> {
  const links: SignedText[] = []
  let place = emptyChain(WORKSPACE)
  for (let at = 0; at < LINKS; at++) {
    const change = { ...(await changeAt(at)), at: AT, signer: OWNER } as LinkChange
    const link = await signLink(place, change, key)
    links.push(link)
    place = { ...place, seq: at + 1, head: await hashOf(link.statement) }
  }
  return links
}

/** Fifty people join, leave and change roles, with changing domains, tokens and epochs. */
async function changeAt(at: number): Promise<Omit<LinkChange, 'at' | 'signer'>> {
  if (at === 0) {
    const founder = { ...(await personOf(0)), user_id: OWNER }
    return { type: 'workspace.created', body: { founder, epoch: 1, key_commitment: COMMITMENT } }
  }
  const domain = (number: number) => `host-${number}.example.com`
  switch (at % 5) {
    case 0: {
      const role = at % 2 === 0 ? 'member' : 'read_only'
      return {
        type: 'members.put',
        body: { members: [{ ...(await personOf(1 + (at % 50))), role }] },
      }
    }
    case 1:
      return { type: 'allowlist.changed', body: { add: [domain(at)], remove: [] } }
    case 2:
      return { type: 'tokens.revoked', body: { token_ids: [idOf(8, 1000 + at)] } }
    case 3:
      return {
        type: 'epoch.advanced',
        body: { epoch: 2 + (at - 3) / 5, key_commitment: COMMITMENT },
      }
    default:
      return { type: 'allowlist.changed', body: { add: [], remove: [domain(at - 3)] } }
  }
}

async function personOf(number: number) {
  const seed = new Uint8Array(32).fill(1).with(0, number + 1)
  const { signing_key, public_key } = await identityOf(seed)
  const email = `person${number}@example.com`
  return { user_id: idOf(7, 100 + number), email, signing_key, public_key }
}

function aboutNow({ head }: Chain) {
  return { v: 2, workspace_id: WORKSPACE, head, signer: OWNER } as const
}

function signGrant(chain: Chain, key: CryptoKey): Promise<SignedText> {
  const grant = {
    ...aboutNow(chain),
    token_id: TOKEN,
    kind: 'agent',
    agent_id: idOf(7, 5),
    label: 'bench',
    public_key: '62pWqnFWmefwxuNaiG5ZSLpp5ZdKxQmCfP0+YPCvPWo=',
    project_id: PROJECT,
    environment: 'production',
    expires_at: null,
  } as const
  return signText('grant', { ...grant, capabilities: ['use'] }, key)
}

function signManifest(chain: Chain, root: string, key: CryptoKey): Promise<SignedText> {
  const { epoch } = chain
  const place = { project_id: PROJECT, environment: 'production' }
  return signText('manifest', { ...aboutNow(chain), ...place, epoch, revision: 1, root }, key)
}
