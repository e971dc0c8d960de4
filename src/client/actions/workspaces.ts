/** Creates, deletes and leaves workspaces, and declines invitations, without a workspace key. */
import { uuidv7, uuidv8 } from '../../core/crypto/encoding.ts'
import { sealMemberEnvelope } from '../../core/crypto/envelope.ts'
import { keyCommitment } from '../../core/crypto/key_commitment.ts'
import { listAgents } from '../../features/agents/contract.ts'
import { listProjects } from '../../features/projects/contract.ts'
import {
  createWorkspaceEndpoint,
  declineInvitation as declineInvitationEndpoint,
  deleteWorkspace as deleteWorkspaceEndpoint,
  listMembers,
  removeMember,
} from '../../features/workspaces/contract.ts'
import {
  type Chain,
  emptyChain,
  extend,
  type Identity,
  type SignedText,
  signLink,
} from '../../sigchain/index.ts'
import { type Api, ApiError } from '../http/api.ts'
import { type KnownChain, knownOf, UntrustedChain } from '../signed/chain.ts'
import { FormerMember, type Judge } from '../signed/sign_change.ts'
import { type AnyWorkspace, toSignedWorkspace } from '../workspace.ts'

export type Founder = { userId: string; email: string; identity: Identity }

/** With the known state of its chain. */
async function createSignedWorkspaceKeys(recipientPublicKey: Uint8Array, founder: Founder) {
  const { key, order } = await sealWorkspaceKey(recipientPublicKey, uuidv8())
  const { known, link } = await signFirstLink(order.id, key, founder)
  return { known, order: { ...order, link } }
}

/** Without a founder it is a plain one, as older clients made them. */
export async function createWorkspaceKeys(recipientPublicKey: Uint8Array, founder: Founder | null) {
  if (founder) return createSignedWorkspaceKeys(recipientPublicKey, founder)
  const { order } = await sealWorkspaceKey(recipientPublicKey, uuidv7())
  return { known: null, order }
}

async function sealWorkspaceKey(recipientPublicKey: Uint8Array, id: string) {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const place = { workspaceId: id, recipientPublicKey, epoch: 1 }
  return { key, order: { id, encrypted_workspace_key: await sealMemberEnvelope(place, key) } }
}

async function signFirstLink(
  id: string,
  key: Uint8Array,
  { userId, email, identity }: Founder,
): Promise<{ link: SignedText; known: KnownChain }> {
  const { signing_key, public_key, signingKey } = identity
  const founder = { user_id: userId, email: email.toLowerCase(), signing_key, public_key }
  const body = { founder, epoch: 1, key_commitment: keyCommitment(id, 1, key) } as const
  const said = { type: 'workspace.created', body, signer: userId } as const
  const chain: Chain = emptyChain(id)
  const link = await signLink(chain, { ...said, at: new Date().toISOString() }, signingKey)
  return { link, known: knownOf(await extend(chain, [link])) }
}

/** Creates a signed workspace. Returns its ID, and the known state of its chain. */
export async function createSignedWorkspace(
  { api, publicKey }: { api: Api; publicKey: Uint8Array },
  founder: Founder,
  name: string,
) {
  const { order, known } = await createSignedWorkspaceKeys(publicKey, founder)
  await api.call(createWorkspaceEndpoint, { body: { name, ...order } })
  return { id: order.id, known }
}

/** The items that are deleted with a workspace. */
export async function lossesOfWorkspace(api: Api, workspace_id: string) {
  const params = { workspace_id }
  const [projects, agents, people] = await Promise.all([
    api.list(listProjects, { query: params }),
    api.list(listAgents, { params }),
    api.list(listMembers, { params }),
  ])
  const names = projects.map(({ name }) => name)
  return { projects: names, agents: agents.length, people: people.length }
}

/** Cannot be undone. @throws ApiError, UntrustedChain */
export function endWorkspace(api: Api, workspace: AnyWorkspace) {
  const params = { workspace_id: workspace.id }
  return workspace.change(
    () => ({ type: 'workspace.deleted', body: {} }),
    (link) => api.call(deleteWorkspaceEndpoint, { params, body: { link } }),
  )
}

/** @throws ApiError, UntrustedChain */
export async function leaveWorkspace(api: Api, workspace: AnyWorkspace, ownAddress: string) {
  const params = { workspace_id: workspace.id, member: ownAddress }
  return workspace.change(ownRemovalFrom(workspace), (link) =>
    api.call(removeMember, { params, body: { link } }),
  )
}

/** Declining does not pin or verify the chain of a stranger. @throws ApiError */
export async function refuseInvitation(api: Api, workspace: AnyWorkspace): Promise<void> {
  const params = { workspace_id: workspace.id }
  const send = async (link?: SignedText) => {
    await api.call(declineInvitationEndpoint, { params, body: { link } })
  }
  if (workspace.chains === null || !(await canSign(workspace.identity))) return send()
  const { chains, identity } = workspace
  const stranger = toSignedWorkspace(workspace, {
    chains: chains.createForgetfulChains(),
    identity,
  })
  return stranger.change(ownRemovalFrom(stranger), send).catch((error: unknown) => {
    if (!isUnsigned(error)) throw error
    return send()
  })
}

function ownRemovalFrom(workspace: AnyWorkspace): Judge {
  return async () => {
    const signer = await workspace.signer()
    return signer && { type: 'members.removed', body: { user_ids: [signer.userId] } }
  }
}

function canSign(identity: () => Promise<unknown>): Promise<boolean> {
  return identity().then(
    () => true,
    () => false,
  )
}

function isUnsigned(error: unknown): boolean {
  if (error instanceof ApiError) return UNSIGNED.includes(error.code)
  return error instanceof UntrustedChain || error instanceof FormerMember
}

const UNSIGNED = ['link_refused', 'unverified_state', 'link_required']
