/**
 * Which tokens a rekey carries over. In a signed workspace none for its row alone: by the grant that an admin
 * signed, into the environments that an admin signed.
 */
import { listAgents, listAgentTokens, listWorkloadTokens } from '../../features/agents/contract.ts'
import { fromBase64 } from '../../platform/crypto/encoding.ts'
import { fingerprint } from '../../platform/crypto/fingerprint.ts'
import { type Chain, Refusal, type SignedText, verifyEnvelope } from '../../sigchain/index.ts'
import { grantOf } from '../agents/tokens.ts'
import type { Api, CallResult } from '../http/api.ts'
import { grantedBy, type OpenWorkspace } from '../vault.ts'
import type { Signer } from './statements.ts'

export type Token = CallResult<typeof listAgentTokens>[number]
type Provision = Token['provisioned'][number]

/** What is left as it is, and so ends with the old key. */
export type LeftToken = {
  id: string
  label: string
  /** Who signed its grant, by what it says; null where it has none. */
  creator: string | null
  fingerprint: string
  reason: string
}

/** By which chain grants are verified, and who signs on the chain that there will be. */
export type Regranting = { before: Chain; signer: Signer }

/** Every live token with what it was granted, sealed under the new key. */
export async function tokensFor(
  api: Api,
  next: OpenWorkspace,
  projects: readonly { id: string }[],
  regranting: Regranting | null,
) {
  const live = (await listTokens(api, next.id, projects)).filter(
    ({ status }) => status === 'active',
  )
  const before = regranting?.before ?? null
  const verified = await Promise.all(live.map((token) => verifiedOf(token, before)))
  const granted = verified.filter(({ places }) => places.length > 0)
  const tokens = granted.map(async ({ token, places }) => ({
    token_id: token.id,
    envelopes: await Promise.all(places.map((place) => sealFor(token, place, next, regranting))),
  }))
  return {
    tokens: await Promise.all(tokens),
    left: (await Promise.all(verified.map((each) => leftOf(each, before)))).flat(),
  }
}

/** All that there are, of agents and workloads. */
export async function listTokens(
  api: Api,
  workspace_id: string,
  projects: readonly { id: string }[],
) {
  const agents = await api.list(listAgents, { params: { workspace_id } })
  const listed = await Promise.all([
    ...agents.map(({ id }) =>
      api.list(listAgentTokens, { params: { workspace_id, registration_id: id } }),
    ),
    ...projects.map(({ id }) => api.list(listWorkloadTokens, { params: { project_id: id } })),
  ])
  return listed.flat()
}

type Verified = { token: Token; places: Provision[]; refused: Refusal[] }

/** Into which environments somebody signed that a token may be; without a chain the list is believed. */
export async function verifiedOf(token: Token, chain: Chain | null): Promise<Verified> {
  if (chain === null) return { token, places: token.provisioned, refused: [] }
  const refused: Refusal[] = []
  const places: Provision[] = []
  const isGranted = await holds(refused, () => grantOf({ chain }, token))
  for (const place of isGranted ? token.provisioned : []) {
    if (await holds(refused, () => requireGranted(chain, token, place))) places.push(place)
  }
  return { token, places, refused }
}

async function holds(refused: Refusal[], verify: () => Promise<unknown>): Promise<boolean> {
  try {
    await verify()
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    refused.push(error)
    return false
  }
}

function requireGranted(
  chain: Chain,
  { id }: Token,
  { statement = '', signature = '', ...place }: Provision,
) {
  const { project_id: projectId, environment, epoch } = place
  const entry = { tokenId: id, projectId, environment, epoch, envelope: null }
  return verifyEnvelope(chain, { statement, signature }, entry)
}

async function sealFor(
  { id, label, public_key }: Token,
  { project_id: projectId, environment }: Provision,
  next: OpenWorkspace,
  regranting: Regranting | null,
) {
  const token = { id, publicKey: public_key }
  return naming(`the token ${label} (${id})`, () =>
    grantedBy(regranting?.signer ?? null, next, token, { projectId, environment }),
  )
}

/** A public key may be none that anything can be sealed to: who rekeys must know whose it is. */
export async function naming<T>(owner: string, seal: () => Promise<T>): Promise<T> {
  try {
    return await seal()
  } catch (cause) {
    const message = `nothing can be sealed to the public key of ${owner}; nothing was changed`
    throw new Error(message, { cause })
  }
}

/** Where something of it does not verify. */
export async function leftOf(
  { token, refused }: Verified,
  chain: Chain | null,
): Promise<LeftToken[]> {
  if (refused.length === 0) return []
  return [await leftAs(token, refused.map(({ message }) => message).join('; '), chain)]
}

export async function leftAs(
  token: Token,
  reason: string,
  chain: Chain | null,
): Promise<LeftToken> {
  const { id, label, public_key, grant } = token
  return {
    id,
    label,
    creator: grant ? creatorOf(grant, chain) : null,
    fingerprint: await fingerprint(fromBase64(public_key) ?? new Uint8Array()),
    reason,
  }
}

/** The address of a member, else the id that the grant has. */
function creatorOf({ statement }: SignedText, chain: Chain | null): string | null {
  const signer = signerIn(statement)
  return signer === null ? null : (chain?.members.get(signer)?.email ?? signer)
}

/** By what a text says, which need not hold. */
export function signerIn(statement: string): string | null {
  try {
    return String(JSON.parse(statement).signer)
  } catch {
    return null
  }
}
