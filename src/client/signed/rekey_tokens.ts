/**
 * Selects the tokens that a rekey carries over. In a signed workspace a row alone is not enough: it needs the grant that an admin
 * signed, into the environments that an admin signed.
 */

import { fromBase64 } from '../../core/crypto/encoding.ts'
import { fingerprint } from '../../core/crypto/fingerprint.ts'
import { listAgents, listAgentTokens, listWorkloadTokens } from '../../features/agents/contract.ts'
import {
  type Chain,
  endOf,
  Refusal,
  type SignedText,
  type TextOf,
  verifyEnvelope,
} from '../../sigchain/index.ts'
import { type Standing, standingOf } from '../agents/standing.ts'
import type { Api, CallResult } from '../http/api.ts'
import { grantEnvironment } from '../vault.ts'
import type { WorkspaceKey } from '../workspace_key.ts'
import type { MemberSigner } from './statements.ts'

export type SeenToken = CallResult<typeof listAgentTokens>[number]
type Provision = SeenToken['provisioned'][number]
export type OwnedToken = SeenToken & { agent: { id: string; name: string } | null }

/** Tokens that are not carried over, and so end with the old key. */
export type LeftToken = {
  id: string
  label: string
  /** The claimed signer of its grant; null without a grant. */
  creator: string | null
  fingerprint: string
  reason: string
}

/** The chain that verifies grants, and the signer on the new chain. */
export type Regranting = { before: Chain; signer: MemberSigner }

/** Every live token with its granted environments, sealed with the new key. */
export async function tokensFor(
  api: Api,
  next: WorkspaceKey,
  projects: readonly { id: string }[],
  regranting: Regranting | null,
) {
  const live = (await listAllTokens(api, next.id, projects)).filter(
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

/** All tokens of agents and workloads. `agent` is the name and ID of a token's agent. */
export async function listAllTokens(
  api: Api,
  workspace_id: string,
  projects: readonly { id: string }[],
) {
  const agents = await api.list(listAgents, { params: { workspace_id } })
  const listed = await Promise.all([
    ...agents.map(async ({ id, name }) => {
      const params = { workspace_id, registration_id: id }
      const own = await api.list(listAgentTokens, { params })
      return own.map((token): OwnedToken => ({ ...token, agent: { id, name } }))
    }),
    ...projects.map(async ({ id }) => {
      const own = await api.list(listWorkloadTokens, { params: { project_id: id } })
      return own.map((token): OwnedToken => ({ ...token, agent: null }))
    }),
  ])
  return listed.flat()
}

export type ProvenToken = {
  token: SeenToken
  /** Null in a plain workspace, and without a signed grant. */
  standing: Standing | null
  places: Provision[]
  /** Tokens with unsigned server data, except ended ones. */
  refused: Refusal[]
}

/** The environments signed for a token. Without a chain, the server's list is trusted. */
export async function verifiedOf(token: SeenToken, chain: Chain | null): Promise<ProvenToken> {
  if (chain === null) return { token, standing: null, places: token.provisioned, refused: [] }
  const refused: Refusal[] = []
  const standing = await unlessRefused(refused, () => standingOf(chain, token))
  const places: Provision[] = []
  if (standing?.is === 'granted') {
    for (const place of token.provisioned) {
      if (await unlessRefused(refused, () => isGranted(chain, token, place))) places.push(place)
    }
  }
  if (standing?.is === 'ungranted' && token.provisioned.length > 0)
    refused.push(new Refusal('form', 'the token has keys but no grant', 'the grant'))
  return { token, standing, places, refused }
}

async function unlessRefused<T>(refused: Refusal[], verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    refused.push(error)
    return null
  }
}

/** False for ended ones. @throws Refusal for ones that no administrator signed */
async function isGranted(
  chain: Chain,
  { id: tokenId }: SeenToken,
  { statement = '', signature = '', project_id: projectId, environment, epoch }: Provision,
): Promise<boolean> {
  const entry = { tokenId, projectId, environment, epoch, envelope: null }
  const signed = { statement, signature }
  try {
    await verifyEnvelope(chain, signed, entry)
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const isMeant = (text: TextOf<'envelope'>) =>
      text.token_id === tokenId &&
      text.project_id === projectId &&
      text.environment === environment &&
      text.epoch === epoch
    if (await endOf('envelope', chain, signed, { refusal: error, isMeant })) return false
    throw error
  }
}

async function sealFor(
  { id, label, public_key }: SeenToken,
  { project_id: projectId, environment }: Provision,
  next: WorkspaceKey,
  regranting: Regranting | null,
) {
  const token = { id, publicKey: public_key }
  return nameKeyOwner(`the token ${label} (${id})`, () =>
    grantEnvironment(regranting?.signer ?? null, next, token, { projectId, environment }),
  )
}

/** A public key may be unusable for sealing. The error names its owner. */
export async function nameKeyOwner<T>(owner: string, seal: () => Promise<T>): Promise<T> {
  try {
    return await seal()
  } catch (cause) {
    const message = `nothing can be sealed to the public key of ${owner}; nothing was changed`
    throw new Error(message, { cause })
  }
}

/** A part that fails verification. */
export async function leftOf(
  { token, refused }: ProvenToken,
  chain: Chain | null,
): Promise<LeftToken[]> {
  if (refused.length === 0) return []
  return [await describeLeftToken(token, refused.map(({ message }) => message).join('; '), chain)]
}

export async function describeLeftToken(
  token: SeenToken,
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

/** From an unverified text. */
export function signerIn(statement: string): string | null {
  try {
    return String(JSON.parse(statement).signer)
  } catch {
    return null
  }
}
