/** A signed workspace, and a server of one of its environments that stores and shows what it is told. */
import type { Said } from '../../src/client/chain.ts'
import {
  Chains,
  type KnownChain,
  type KnownChains,
  type KnownManifest,
} from '../../src/client/chain.ts'
import { type OpenWorkspace, sealSecret } from '../../src/client/vault.ts'
import { keyCommitment } from '../../src/platform/crypto/key_commitment.ts'
import { sha256 } from '../../src/platform/crypto/primitives.ts'
import {
  emptyChain,
  extend,
  identityOf,
  type SignedText,
  signLink,
} from '../../src/sigchain/index.ts'

export const WORKSPACE = '01920000-0000-8000-8000-000000000100'
export const PROJECT = '01920000-0000-7000-8000-000000000200'
export const ENVIRONMENT = 'production'
const AT = '2026-11-22T00:00:00.000Z'
const KEY = new Uint8Array(32).fill(7)
export const place = { projectId: PROJECT, environment: ENVIRONMENT }

export type Somebody = Awaited<ReturnType<typeof somebody>>

export async function somebody(number: number) {
  const identity = await identityOf(new Uint8Array(32).fill(number))
  const user_id = `01920000-0000-7000-8000-00000000001${number}`
  const { signing_key, public_key } = identity
  return { identity, person: { user_id, email: `p${number}@example.com`, signing_key, public_key } }
}

export const ada = await somebody(1)
export const bea = await somebody(2)

/** The chain that a server has, from its first link on. */
export async function openLinks(founder: Somebody = ada) {
  let chain = emptyChain(WORKSPACE)
  const links: SignedText[] = []
  const add = async (said: Said, { identity, person }: Somebody = founder) => {
    const change = { ...said, at: AT, signer: person.user_id } as Parameters<typeof signLink>[1]
    const link = await signLink(chain, change, identity.signingKey)
    chain = await extend(chain, [link])
    links.push(link)
  }
  const key_commitment = keyCommitment(WORKSPACE, 1, KEY)
  const body = { founder: founder.person, epoch: 1, key_commitment } as const
  await add({ type: 'workspace.created', body })
  return { links, add, chain: () => chain }
}
export type Links = Awaited<ReturnType<typeof openLinks>>

/** Bea is a member too. */
export async function linksOfTwo(
  role: 'admin' | 'member' | 'read_only' = 'member',
): Promise<Links> {
  const links = await openLinks()
  await links.add({ type: 'members.put', body: { members: [{ ...bea.person, role }] } })
  return links
}

/** What one machine has kept. */
export function openMemory() {
  const chains = new Map<string, KnownChain>()
  const manifests = new Map<string, KnownManifest>()
  const keyOf = (where: object) => JSON.stringify(where)
  const known: KnownChains = {
    of: (id) => chains.get(id),
    remember: (id, chain) => void chains.set(id, chain),
    manifestOf: (where) => manifests.get(keyOf(where)),
    rememberManifest: (where, { revision, root }) =>
      void manifests.set(keyOf(where), { revision, root }),
  }
  return known
}

/** The workspace as one of its members has it open. */
export function openedBy(
  { identity }: Somebody,
  { links }: Pick<Links, 'links'>,
  known = openMemory(),
): OpenWorkspace {
  const workspace = { id: WORKSPACE, name: 'acme' }
  const readLinks = async (_: string, after: number) => links.slice(after, after + 500)
  const chains = new Chains(readLinks, known, { met: () => {}, rekeyed: () => {} })
  const signing = { chains, workspace, identity: async () => identity }
  return { ...workspace, epoch: 1, key: KEY, signing }
}

export function sealed(workspace: OpenWorkspace, key: string, value: string): string {
  return sealSecret(workspace, { ...place, key }, null, value)
}

export function hashOfSealed(value: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(sha256(Buffer.from(value, 'base64')))
}
