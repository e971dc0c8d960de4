/** The people of a workspace, and its key: who they are by their fingerprints, and what each change of them ends. */
import {
  activeMembers,
  giveRole,
  type Invitee,
  invitePeople,
  isSamePerson,
  readMembers,
  readPerson,
  removePerson,
} from '../../../../client/actions/members.ts'
import { endedByRekey, renewWorkspaceKey } from '../../../../client/actions/rekey.ts'
import { tokensSignedBy } from '../../../../client/signed/kept_tokens.ts'
import type { Role } from '../../../../core/grant.ts'
import { identityFingerprint, isRekeyDue, Refusal } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { forgetWorkspaces, placeIn, workspaceOf } from '../places.ts'
import type { Progress } from '../reports.ts'

export const membersCommands = {
  list,
  person,
  invite,
  ending,
  changeRole,
  remove,
  rekeyEnds,
  rekey,
}

type In = { workspaceId: string }

/** @throws UntrustedChain */
async function list(held: HeldKeys, at: In) {
  const entry = await workspaceOf(held, at.workspaceId)
  const chain = await entry.chain()
  const own = held.reader().userId
  const members = (await readMembers({ api: held.api, workspace: entry.open })).map(
    async (member) => {
      const { user_id, email, name, role, status } = member
      const fingerprint = await identityFingerprint(member).catch(refusedAsNull)
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

function refusedAsNull(error: unknown): null {
  if (error instanceof Refusal) return null
  throw error
}

/** Somebody to invite, with the fingerprint to compare. @throws Refused `no_account`, `unproven_key` */
async function person(held: HeldKeys, { email, ...at }: In & { email: string }) {
  const place = await placeIn(held, at.workspaceId)
  const chain = await place.workspace.chain()
  const found = await provenPerson(held, email)
  const member = chain?.members.get(found.user_id)
  if (member && !isSamePerson(found, member)) throw new Refused('unproven_key')
  if (chain !== null && found.signing_key === null) throw new Refused('no_signing_key_there')
  const active = await activeMembers(place)
  return {
    email: found.email,
    fingerprint: await identityFingerprint(found),
    isMember: active.has(found.user_id),
  }
}

async function provenPerson(held: HeldKeys, email: string): Promise<Invitee> {
  const found = await readPerson(held.api, email).catch((error: unknown) => {
    if (error instanceof Refusal) throw new Refused('unproven_key')
    throw error
  })
  if (found) return found
  throw new Refused('no_account')
}

type Invitation = In & { email: string; role: Role; fingerprint: string }

/** Only to the keys whose fingerprint was compared. @throws Refused `other_fingerprint`, `no_account` */
async function invite(held: HeldKeys, { email, role, fingerprint, ...at }: Invitation) {
  const place = await placeIn(held, at.workspaceId)
  const [found, active] = await Promise.all([provenPerson(held, email), activeMembers(place)])
  if ((await identityFingerprint(found)) !== fingerprint) throw new Refused('other_fingerprint')
  const [outcome] = await invitePeople(place, [found], role, active)
  return outcome?.status ?? 'already_member'
}

/** Tokens that end when somebody loses the right to sign, and what of theirs does not verify anyway. */
async function ending(held: HeldKeys, { userId, ...at }: In & { userId: string }) {
  const { held: found, left } = await signedBy(held, at, userId)
  const tokens = found.map(({ token, grant, places }) => ({
    id: token.id,
    label: grant.label,
    kind: grant.kind,
    environments: places.map(({ environment }) => environment),
  }))
  return { tokens, left }
}

/** What others than admins have signed does not hold, and who leaves cannot sign for those who stay. */
async function signedBy(held: HeldKeys, at: In, userId: string) {
  const chain = await (await placeIn(held, at.workspaceId)).workspace.chain()
  const role = chain?.members.get(userId)?.role
  const signs = role === 'owner' || role === 'admin'
  if (chain === null || !signs || userId === held.reader().userId) return { held: [], left: [] }
  return tokensSignedBy(held.api, chain, userId)
}

type Change = In & { userId: string; keep: readonly string[] }

async function keptOf(held: HeldKeys, { keep, userId, ...at }: Change) {
  if (keep.length === 0) return []
  const { held: found } = await signedBy(held, at, userId)
  return found.filter(({ token }) => keep.includes(token.id))
}

/** @throws ApiError `last_owner`, `conflict` */
async function changeRole(held: HeldKeys, { role, ...change }: Change & { role: Role }) {
  const place = await placeIn(held, change.workspaceId)
  const { role: now } = await giveRole(place, change.userId, role, await keptOf(held, change))
  return { role: now }
}

/** Lets somebody leave, too, and withdraws an invitation. @throws ApiError `last_owner`, `conflict` */
async function remove(held: HeldKeys, change: Change) {
  const place = await placeIn(held, change.workspaceId)
  await removePerson(place, change.userId, await keptOf(held, change))
  if (change.userId === held.reader().userId) held.names.forget(change.workspaceId)
  forgetWorkspaces(held)
}

/** What a rekey ends for good. */
async function rekeyEnds(held: HeldKeys, { workspaceId }: In) {
  return endedByRekey(held.api, workspaceId)
}

/** @throws Refused `not_signed`, ApiError `epoch_conflict` */
async function rekey(held: HeldKeys, at: In, progress: (progress: Progress) => void) {
  const place = await placeIn(held, at.workspaceId)
  // The keys of members are the server's word there: the command line knows those of before.
  if (place.workspace.chains === null) throw new Refused('not_signed')
  const sealing = (done: number) => progress({ step: 'sealing', done })
  sealing(0)
  const { next, ...counts } = await renewWorkspaceKey(place, async () => {}, sealing)
  forgetWorkspaces(held)
  return { epoch: next.epoch, ...counts }
}
