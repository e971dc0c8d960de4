/** A signed workspace, and a server of one of its environments that stores and returns the received data. */

import type { EnvironmentPlace } from '../../src/client/environment.ts'
import { type Api, ApiError } from '../../src/client/http/api.ts'
import {
  Chains,
  type KnownChain,
  type KnownChains,
  type KnownManifest,
} from '../../src/client/signed/chain.ts'
import type { LinkText } from '../../src/client/signed/sign_change.ts'
import { sealSecret } from '../../src/client/vault.ts'
import { type OpenWorkspace, toSignedWorkspace } from '../../src/client/workspace.ts'
import { keyCommitment } from '../../src/core/crypto/key_commitment.ts'
import { sha256 } from '../../src/core/crypto/primitives.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
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
  const add = async (said: LinkText, { identity, person }: Somebody = founder) => {
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

/** The records that one machine has stored. */
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

/** The workspace the way one of its members has it open. */
export function openedBy(
  { identity }: Somebody,
  { links }: Pick<Links, 'links'>,
  known = openMemory(),
): OpenWorkspace {
  const workspace = { id: WORKSPACE, name: 'acme', epoch: 1, key: KEY }
  const readLinks = async (_: string, after: number) => links.slice(after, after + 500)
  const chains = new Chains(readLinks, known, { met: () => {}, rekeyed: () => {} })
  return toSignedWorkspace(workspace, { chains, identity: async () => identity })
}

export function sealed(
  workspace: OpenWorkspace,
  key: string,
  value: string,
  policy: Policy | null = null,
): string {
  return sealSecret(workspace, { ...place, key }, policy, value)
}

export function hashOfSealed(value: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(sha256(Buffer.from(value, 'base64')))
}

type Body = { manifest?: SignedText; secrets: { key: string; value: string }[] }

/** Stores what it receives, and checks only that a manifest is the next one. */
export class Store {
  rows = new Map<string, string>()
  manifest: SignedText | null = null
  /** The policies that the server presents; null for names that do not exist. */
  policies = new Map<string, Policy>()
  /** The hashes that the server presents instead of the values' own ones. */
  hashes = new Map<string, string>()
  calls: string[] = []

  get revision(): number {
    return this.manifest ? JSON.parse(this.manifest.statement).revision : 0
  }

  /** The current state, to be returned again later. */
  copy(): Store {
    const { manifest, policies } = this
    return Object.assign(new Store(), { rows: new Map(this.rows), manifest, policies })
  }

  write({ manifest, secrets }: Body): void {
    if (!manifest || JSON.parse(manifest.statement).revision !== this.revision + 1) {
      throw new ApiError(409, { error_code: 'conflict' })
    }
    for (const { key, value } of secrets) this.rows.set(key, value)
    this.manifest = manifest
  }

  listed(hasValues: boolean) {
    return [...this.rows].sort().map(([key, value]) => {
      const hash = Buffer.from(hashOfSealed(value)).toString('base64url')
      const value_sha256 = this.hashes.get(key) ?? hash
      const policy = this.policies.get(key) ?? null
      return { key, policy, version: 1, value_sha256, ...(hasValues ? { value } : {}) }
    })
  }
}

type Input = { params: { key: string }; query: { include?: string }; body: Body }

/** Secret endpoints, answered from a store that may differ for each call. */
export function apiOf(storeNow: () => Store): Api {
  const whole = async (_: unknown, { query }: Input) => {
    const store = storeNow()
    store.calls.push('secrets.list')
    return { data: store.listed(query.include === 'value'), beside: { manifest: store.manifest } }
  }
  const call = async ({ name }: { name: string }, { params, body }: Input) => {
    if (name === 'secrets.upsert') return storeNow().write(body)
    const found = storeNow()
      .listed(true)
      .find(({ key }) => key === params.key)
    if (found) return found
    throw new ApiError(404, { error_code: 'not_found' })
  }
  const list = async (endpoint: unknown, input: Input) => (await whole(endpoint, input)).data
  return { call, list, whole } as unknown as Api
}

export function environmentIn(workspace: OpenWorkspace, api: Api): EnvironmentPlace {
  return { api, workspace, ...place }
}
