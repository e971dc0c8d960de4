/**
 * Lists, invites, changes and removes the members of a workspace. In a signed workspace, each change is a link, and the
 * links define the members and their keys.
 */

import { fromBase64 } from '../../core/crypto/encoding.ts'
import { sealMemberEnvelope } from '../../core/crypto/envelope.ts'
import type { Role } from '../../core/grant.ts'
import { getPublicKey } from '../../features/accounts/contract.ts'
import {
  acceptInvitation,
  changeMemberRole,
  inviteMembersEndpoint,
  listMembers,
  removeMember,
} from '../../features/workspaces/contract.ts'
import { type Chain, type Member, requireKeyProof, type SignedText } from '../../sigchain/index.ts'
import { type Api, ApiError } from '../http/api.ts'
import { resignTokens, type SignedToken } from '../signed/kept_tokens.ts'
import { ownId } from '../signed/sign_change.ts'
import type { WorkspacePlace } from '../workspace.ts'
import type { WorkspaceEntry } from '../workspaces.ts'

/** Rows only add the name of signed members, and whether they accepted. */
export async function readMembers({ api, workspace }: WorkspacePlace) {
  const [rows, chain] = await Promise.all([
    api.list(listMembers, { params: { workspace_id: workspace.id } }),
    workspace.chain(),
  ])
  if (!chain) return rows
  const byId = new Map(rows.map((row) => [row.user_id, row]))
  return [...chain.members.values()].map((member) => ({ ...byId.get(member.user_id), ...member }))
}

export type Invitee = Omit<Member, 'role' | 'signing_key'> & {
  signing_key: string | null
  bytes: Uint8Array
}

/** By address. Null without an account. @throws Refusal for keys that are not theirs */
export async function readPerson(api: Api, typed: string): Promise<Invitee | null> {
  const keys = await api
    .call(getPublicKey, { params: { email: typed } })
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    })
  const bytes = fromBase64(keys?.public_key ?? '')
  if (!keys || !bytes) return null
  const { user_id, public_key, signing_key, key_proof } = keys
  const email = typed.toLowerCase()
  if (signing_key !== null) {
    await requireKeyProof({ signing_key, public_key }, email, key_proof ?? '')
  }
  return { user_id, email, public_key, signing_key, bytes }
}

/** Address and keys of a member never change. Different ones come from a malicious server. */
export function isSamePerson(person: Omit<Invitee, 'bytes'>, member: Member): boolean {
  const { email, signing_key, public_key } = member
  return (
    person.email === email && person.signing_key === signing_key && person.public_key === public_key
  )
}

/** The members in the server's list, including invited people, who have no link. */
export async function listActiveMembers({ api, workspace }: WorkspacePlace): Promise<Set<string>> {
  if (workspace.chains === null) return new Set()
  const [listed] = await Promise.all([
    api.list(listMembers, { params: { workspace_id: workspace.id } }),
    workspace.chain(),
  ])
  const active = listed.filter(({ status }) => status === 'active')
  return new Set(active.map(({ user_id }) => user_id))
}

/** Seals the workspace key to people whose keys were compared. */
export async function invitePeople(
  place: WorkspacePlace,
  people: readonly Invitee[],
  role: Role,
  active: ReadonlySet<string>,
) {
  const { id, epoch, key } = place.workspace
  const invites = await Promise.all(
    people.map(async ({ email, bytes }) => {
      const to = { workspaceId: id, recipientPublicKey: bytes, epoch }
      return { email, role, encrypted_workspace_key: await sealMemberEnvelope(to, key) }
    }),
  )
  const invited = people.filter(({ user_id }) => !active.has(user_id))
  return place.workspace.change(
    () => linkFor(invited, role),
    (link) => {
      const body = { invites, epoch, link }
      return place.api.call(inviteMembersEndpoint, { params: { workspace_id: id }, body })
    },
  )
}

function linkFor(people: readonly Invitee[], role: Role) {
  if (people.length === 0) return null
  const members = people.map(({ user_id, email, signing_key, public_key }) => ({
    ...{ user_id, email, public_key, role },
    signing_key: signing_key ?? '',
  }))
  return { type: 'members.put', body: { members } } as const
}

/**
 * Accepts an invitation that an authorised member signed, with the members' workspace key. Returns false, without
 * accepting, if the person's key cannot decrypt it.
 *
 * @param compared the history that the person compared, to be pinned; without one, the history that is read is pinned
 * @throws ApiError, UntrustedChain
 */
export async function joinWorkspace(
  { api, email }: { api: Api; email: string },
  { shown, ...invited }: WorkspaceEntry,
  compared?: { chain: Chain; pin(): void },
): Promise<boolean> {
  const { chains } = invited
  if (chains !== null) {
    const chain = compared?.chain ?? (await chains.of(invited))
    // An invitation to replaced keys is not a forgery, but cannot be decrypted.
    const isReplaced = !shown && memberNamed(chain, email) !== null
    if (!isReplaced) ownId(chain, invited, (await invited.identity()).signing_key)
    if (shown) {
      compared?.pin()
      await chains.requireKey(shown)
    }
  }
  if (!shown) return false
  await api.call(acceptInvitation, { params: { workspace_id: invited.id } })
  return true
}

/** Removes a member, withdraws an invitation, or leaves. */
export function removePerson(place: WorkspacePlace, typed: string, kept: readonly SignedToken[]) {
  const params = { workspace_id: place.workspace.id, member: typed }
  return place.workspace.change(
    (chain) => {
      const member = memberNamed(chain, typed)
      return member && { type: 'members.removed', body: { user_ids: [member.user_id] } }
    },
    async (link) => {
      const grants = await grantsWith(link, place, kept)
      return place.api.call(removeMember, { params, body: { link, grants } })
    },
  )
}

export function giveRole(
  place: WorkspacePlace,
  typed: string,
  role: Role,
  kept: readonly SignedToken[],
) {
  const params = { workspace_id: place.workspace.id, member: typed }
  return place.workspace.change(
    (chain) => {
      const member = memberNamed(chain, typed)
      if (member === null || member.role === role) return null
      return { type: 'members.put', body: { members: [{ ...member, role }] } }
    },
    async (link) => {
      const grants = await grantsWith(link, place, kept)
      return place.api.call(changeMemberRole, { params, body: { role, link, grants } })
    },
  )
}

/** A member by email address or ID; null for an unknown one, which the server then reports. */
export function memberNamed({ members }: Chain, typed: string): Member | null {
  const email = typed.toLowerCase()
  return members.get(typed) ?? [...members.values()].find((each) => each.email === email) ?? null
}

/** Signed state only ends with a link. */
function grantsWith(
  link: SignedText | undefined,
  { workspace }: WorkspacePlace,
  kept: readonly SignedToken[],
) {
  return link && kept.length > 0 ? resignTokens(workspace, kept) : undefined
}
