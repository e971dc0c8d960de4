/**
 * The changes that a link may make, and their effects. A link is valid only as a whole: rights are checked against the
 * state before it, and an invalid part makes all of it invalid.
 */
import { mayChangeMember } from './member_rules.ts'
import { Refusal } from './refusal.ts'
import type { ChainDraft } from './state.ts'
import type { Link, Member } from './texts.ts'

type Body<T extends Link['type']> = Extract<Link, { type: T }>['body']

/**
 * Applies a link with a verified position and signature. The draft is unusable after a refusal.
 *
 * @throws Refusal `right`, `rule`, `last_owner`
 */
export function applyLink(draft: ChainDraft, link: Link): void {
  if (link.type === 'workspace.created') {
    putMember(draft, { ...link.body.founder, role: 'owner' })
    beginEpoch(draft, link.body)
    return
  }
  const signer = draft.members.get(link.signer)
  if (signer === undefined) throw new Refusal('signer')
  applyChange(draft, signer, link)
}

function applyChange(
  draft: ChainDraft,
  signer: Member,
  { type, body }: Exclude<Link, { type: 'workspace.created' }>,
): void {
  switch (type) {
    case 'members.put':
      putMembers(draft, signer, body)
      break
    case 'members.removed':
      removeMembers(draft, signer, body)
      break
    case 'keys.rotated':
      rotateKeys(draft, signer, body)
      break
    case 'epoch.advanced':
      advanceEpoch(draft, signer, body)
      break
    case 'allowlist.changed':
      changeAllowlist(draft, signer, body)
      break
    case 'tokens.revoked':
      revokeTokens(draft, signer, body)
      break
    case 'workspace.deleted':
      deleteWorkspace(draft, signer)
  }
}

function putMembers(draft: ChainDraft, signer: Member, { members }: Body<'members.put'>): void {
  for (const { user_id, role } of members) {
    const from = draft.members.get(user_id)?.role
    const change =
      from === undefined
        ? ({ kind: 'invite', role, pending: null } as const)
        : ({ kind: 'set_role', from, to: role } as const)
    if (!mayChangeMember(signer.role, change)) throw new Refusal('right')
  }
  requireDistinct(members.map(({ user_id }) => user_id))
  for (const member of members) {
    const known = draft.members.get(member.user_id)
    if (known !== undefined) requireSameIdentity(known, member)
    putMember(draft, member)
  }
  requireOwner(draft)
}

function requireSameIdentity(known: Member, member: Member): void {
  const isSame = namesOf(known).every((name, index) => name === namesOf(member)[index])
  if (!isSame) throw new Refusal('rule', 'it changes the address or keys of a member')
}

function removeMembers(draft: ChainDraft, signer: Member, body: Body<'members.removed'>): void {
  const removed = body.user_ids.map((userId) => draft.members.get(userId))
  for (const member of removed) {
    const self = member === signer
    const change = { kind: 'remove', from: member?.role ?? 'read_only', self } as const
    if (!mayChangeMember(signer.role, change)) throw new Refusal('right')
  }
  requireDistinct(body.user_ids)
  for (const member of removed) {
    if (member === undefined) throw new Refusal('rule', 'it removes someone who is not a member')
    release(draft, member)
    draft.members.delete(member.user_id)
    addPeriod(draft, member, null)
  }
  requireOwner(draft)
}

function rotateKeys(draft: ChainDraft, signer: Member, keys: Body<'keys.rotated'>): void {
  if (keys.signing_key === signer.signing_key || keys.public_key === signer.public_key) {
    throw new Refusal('rule', 'both keys must be new')
  }
  release(draft, signer)
  putMember(draft, { ...signer, ...keys })
}

function advanceEpoch(draft: ChainDraft, signer: Member, body: Body<'epoch.advanced'>): void {
  requireAdmin(signer, 'advance the epoch')
  if (body.epoch !== draft.epoch + 1) throw new Refusal('rule', 'the epoch must increase by one')
  beginEpoch(draft, body)
}

function beginEpoch(draft: ChainDraft, body: Body<'epoch.advanced' | 'workspace.created'>): void {
  draft.epoch = body.epoch
  draft.keyCommitment = body.key_commitment
  draft.epochSince = draft.seq
}

function changeAllowlist(
  { allowlist }: ChainDraft,
  signer: Member,
  body: Body<'allowlist.changed'>,
): void {
  requireAdmin(signer, 'change the allowlist')
  requireDistinct([...body.add, ...body.remove])
  for (const domain of body.add) {
    if (allowlist.has(domain)) throw new Refusal('rule', 'it adds a domain that is already allowed')
    allowlist.add(domain)
  }
  for (const domain of body.remove) {
    if (!allowlist.delete(domain))
      throw new Refusal('rule', 'it removes a domain that is not allowed')
  }
}

function revokeTokens(
  { revokedTokens }: ChainDraft,
  signer: Member,
  body: Body<'tokens.revoked'>,
): void {
  requireAdmin(signer, 'revoke tokens')
  for (const tokenId of body.token_ids) {
    if (revokedTokens.has(tokenId))
      throw new Refusal('rule', 'it revokes a token that is already revoked')
    revokedTokens.add(tokenId)
  }
}

function deleteWorkspace(draft: ChainDraft, { role }: Member): void {
  if (role !== 'owner') throw new Refusal('right', 'only owners can delete a workspace')
  draft.isDeleted = true
}

function requireAdmin({ role }: Member, what: string): void {
  if (role === 'owner' || role === 'admin') return
  throw new Refusal('right', `only owners and admins can ${what}`)
}

/** Adds a member, or replaces the role or keys of one. */
function putMember(draft: ChainDraft, member: Member): void {
  const { user_id: userId } = member
  for (const name of namesOf(member)) {
    const owner = draft.taken.get(name)
    if (owner !== undefined && owner !== userId) {
      throw new Refusal('rule', 'two members share an address or key')
    }
    draft.taken.set(name, userId)
  }
  draft.members.set(userId, member)
  addPeriod(draft, member, member.role)
}

function release({ taken }: ChainDraft, member: Member): void {
  for (const name of namesOf(member)) taken.delete(name)
}

/** Returns values that are unique to a member, prefixed with their kind. */
function namesOf({ email, signing_key, public_key }: Member): string[] {
  return [email, `signing ${signing_key}`, `public ${public_key}`]
}

function addPeriod(
  { history, seq }: ChainDraft,
  member: Member,
  role: Member['role'] | null,
): void {
  const periods = history.get(member.user_id) ?? []
  periods.push({ since: seq, role, signingKey: member.signing_key })
  history.set(member.user_id, periods)
}

function requireOwner({ members }: ChainDraft): void {
  for (const { role } of members.values()) if (role === 'owner') return
  throw new Refusal('last_owner')
}

function requireDistinct(names: readonly string[]): void {
  if (new Set(names).size !== names.length) throw new Refusal('rule', 'it has duplicate entries')
}
