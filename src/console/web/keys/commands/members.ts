/** Members of a workspace with their fingerprints, changes of members, and the rekey. */
import { agentOf } from '../../../../client/actions/exposure.ts'
import {
  giveRole,
  type Invitee,
  invitePeople,
  isSamePerson,
  listActiveMembers,
  readMembers,
  readPerson,
  removePerson,
} from '../../../../client/actions/members.ts'
import { listEndedByRekey, renewWorkspaceKey } from '../../../../client/actions/rekey.ts'
import { tokensSignedBy } from '../../../../client/signed/kept_tokens.ts'
import type { Role } from '../../../../core/grant.ts'
import { identityFingerprint, isRekeyDue, Refusal } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import { forgetWorkspaces, placeIn, workspaceOf } from '../places.ts'
import type { Progress } from '../reports.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const membersCommands = {
  list,
  person,
  invite,
  ending: listEndingTokens,
  changeRole,
  remove,
  rekeyEnds,
  rekey,
}

type In = { workspaceId: string }

/** @throws UntrustedChain */
async function list(session: UnlockedSession, at: In) {
  const entry = await workspaceOf(session, at.workspaceId)
  const chain = await entry.chain()
  const own = session.reader().userId
  const members = (await readMembers({ api: session.api, workspace: entry.open })).map(
    async (member) => {
      const { user_id, email, name, role, status } = member
      const fingerprint = await identityFingerprint(member).catch(toNullIfRefused)
      const isOwn = user_id === own
      return { userId: user_id, email, name: name ?? '', role, status, fingerprint, isOwn }
    },
  )
  return {
    name: entry.name,
    ownRole: entry.role,
    isSigned: chain !== null,
    isRekeyDue: entry.rekey_required || (chain !== null && isRekeyDue(chain)),
    members: await Promise.all(members),
  }
}

function toNullIfRefused(error: unknown): null {
  if (error instanceof Refusal) return null
  throw error
}

/** Returns a person to invite, with the fingerprint to compare. @throws Refused `no_account`, `unproven_key` */
async function person(session: UnlockedSession, { email, ...at }: In & { email: string }) {
  const place = await placeIn(session, at.workspaceId)
  const chain = await place.workspace.chain()
  const found = await readProvenPerson(session, email)
  const member = chain?.members.get(found.user_id)
  if (member && !isSamePerson(found, member)) throw new Refused('unproven_key')
  if (chain !== null && found.signing_key === null) throw new Refused('no_signing_key_there')
  const active = await listActiveMembers(place)
  return {
    email: found.email,
    fingerprint: await identityFingerprint(found),
    isMember: active.has(found.user_id),
  }
}

async function readProvenPerson(session: UnlockedSession, email: string): Promise<Invitee> {
  const found = await readPerson(session.api, email).catch((error: unknown) => {
    if (error instanceof Refusal) throw new Refused('unproven_key')
    throw error
  })
  if (found) return found
  throw new Refused('no_account')
}

type Invitation = In & { email: string; role: Role; fingerprint: string }

/** Invites only the keys whose fingerprint was compared. @throws Refused `other_fingerprint`, `no_account` */
async function invite(session: UnlockedSession, { email, role, fingerprint, ...at }: Invitation) {
  const place = await placeIn(session, at.workspaceId)
  const [found, active] = await Promise.all([
    readProvenPerson(session, email),
    listActiveMembers(place),
  ])
  if ((await identityFingerprint(found)) !== fingerprint) throw new Refused('other_fingerprint')
  const [outcome] = await invitePeople(place, [found], role, active)
  return outcome?.status ?? 'already_member'
}

/** Tokens that end when a member can no longer sign. `left` has tokens that already fail to verify. */
async function listEndingTokens(
  session: UnlockedSession,
  { userId, ...at }: In & { userId: string },
) {
  const { held: found, left } = await listTokensSignedBy(session, at, userId)
  const tokens = found.map(({ token, grant, places }) => ({
    id: token.id,
    agent: agentOf(token, grant),
    label: grant.label,
    kind: grant.kind,
    environments: places.map(({ environment }) => environment),
  }))
  return { tokens, left }
}

/** Only owners and admins sign tokens. Members who leave cannot keep their own tokens. */
async function listTokensSignedBy(session: UnlockedSession, at: In, userId: string) {
  const chain = await (await placeIn(session, at.workspaceId)).workspace.chain()
  const role = chain?.members.get(userId)?.role
  const signs = role === 'owner' || role === 'admin'
  if (chain === null || !signs || userId === session.reader().userId) return { held: [], left: [] }
  return tokensSignedBy(session.api, chain, userId)
}

type Change = In & { userId: string; keep: readonly string[] }

async function keptOf(session: UnlockedSession, { keep, userId, ...at }: Change) {
  if (keep.length === 0) return []
  const { held: found } = await listTokensSignedBy(session, at, userId)
  return found.filter(({ token }) => keep.includes(token.id))
}

/** @throws ApiError `last_owner`, `conflict` */
async function changeRole(session: UnlockedSession, { role, ...change }: Change & { role: Role }) {
  const place = await placeIn(session, change.workspaceId)
  const { role: now } = await giveRole(place, change.userId, role, await keptOf(session, change))
  return { role: now }
}

/** Removes a member, leaves the workspace, or withdraws an invitation. @throws ApiError `last_owner`, `conflict` */
async function remove(session: UnlockedSession, change: Change) {
  const place = await placeIn(session, change.workspaceId)
  await removePerson(place, change.userId, await keptOf(session, change))
  if (change.userId === session.reader().userId) session.names.forget(change.workspaceId)
  forgetWorkspaces(session)
}

/** Counts what a rekey ends permanently. */
async function rekeyEnds(session: UnlockedSession, { workspaceId }: In) {
  return listEndedByRekey(session.api, workspaceId)
}

/** @throws Refused `not_signed`, ApiError `epoch_conflict` */
async function rekey(session: UnlockedSession, at: In, progress: (progress: Progress) => void) {
  const place = await placeIn(session, at.workspaceId)
  // In an unsigned workspace, members' keys come from the server. Only the command line has pinned keys.
  if (place.workspace.chains === null) throw new Refused('not_signed')
  const reportSealing = (done: number) => progress({ step: 'sealing', done })
  reportSealing(0)
  const { next, ...counts } = await renewWorkspaceKey(place, async () => {}, reportSealing)
  forgetWorkspaces(session)
  return { epoch: next.epoch, ...counts }
}
