/** The people of a workspace, and its key: who they are by their fingerprints, and what each change of them ends. */
import {
  activeMembers,
  changeRole as changeRoleOf,
  invite as inviteTo,
  isSamePerson,
  type Person,
  type Place,
  readMembers,
  readPerson,
  remove as removeFrom,
} from '../../../../client/members.ts'
import { endedByRekey, rekey as rekeyWorkspace } from '../../../../client/rekey.ts'
import { tokensSignedBy } from '../../../../client/signed/kept_tokens.ts'
import type { Role } from '../../../../core/grant.ts'
import { identityFingerprint, isRekeyDue, Refusal } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import type { Held } from '../held.ts'
import { forgetWorkspaces, workspaceOf } from '../places.ts'
import type { Progress } from '../reports.ts'

type In = { workspaceId: string }

async function placeOf(held: Held, { workspaceId }: In) {
  const entry = await workspaceOf(held, workspaceId)
  const place: Place = { api: held.api, workspace: entry.open }
  const chain = (await entry.open.signing?.chains.of(entry)) ?? null
  return { entry, place, chain }
}

/** @throws UntrustedChain */
export async function list(held: Held, at: In) {
  const { entry, place, chain } = await placeOf(held, at)
  const own = held.reader().userId
  const members = (await readMembers(place)).map(async (member) => {
    const { user_id, email, name, role, status } = member
    const fingerprint = await identityFingerprint(member).catch(refusedAsNull)
    const isOwn = user_id === own
    return { userId: user_id, email, name: name ?? '', role, status, fingerprint, isOwn }
  })
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
export async function person(held: Held, { email, ...at }: In & { email: string }) {
  const { place, chain } = await placeOf(held, at)
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

async function provenPerson(held: Held, email: string): Promise<Person> {
  const found = await readPerson(held.api, email).catch((error: unknown) => {
    if (error instanceof Refusal) throw new Refused('unproven_key')
    throw error
  })
  if (found) return found
  throw new Refused('no_account')
}

type Invitation = In & { email: string; role: Role; fingerprint: string }

/** Only to the keys whose fingerprint was compared. @throws Refused `other_fingerprint`, `no_account` */
export async function invite(held: Held, { email, role, fingerprint, ...at }: Invitation) {
  const { place } = await placeOf(held, at)
  const [found, active] = await Promise.all([provenPerson(held, email), activeMembers(place)])
  if ((await identityFingerprint(found)) !== fingerprint) throw new Refused('other_fingerprint')
  const [outcome] = await inviteTo(place, [found], role, active)
  return outcome?.status ?? 'already_member'
}

/** Tokens that end when somebody loses the right to sign, and what of theirs does not verify anyway. */
export async function ending(held: Held, { userId, ...at }: In & { userId: string }) {
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
async function signedBy(held: Held, at: In, userId: string) {
  const { chain } = await placeOf(held, at)
  const role = chain?.members.get(userId)?.role
  const signs = role === 'owner' || role === 'admin'
  if (chain === null || !signs || userId === held.reader().userId) return { held: [], left: [] }
  return tokensSignedBy(held.api, chain, userId)
}

type Change = In & { userId: string; keep: readonly string[] }

async function keptOf(held: Held, { keep, userId, ...at }: Change) {
  if (keep.length === 0) return []
  const { held: found } = await signedBy(held, at, userId)
  return found.filter(({ token }) => keep.includes(token.id))
}

/** @throws ApiError `last_owner`, `conflict` */
export async function changeRole(held: Held, { role, ...change }: Change & { role: Role }) {
  const { place } = await placeOf(held, change)
  const { role: now } = await changeRoleOf(place, change.userId, role, await keptOf(held, change))
  return { role: now }
}

/** Lets somebody leave, too, and withdraws an invitation. @throws ApiError `last_owner`, `conflict` */
export async function remove(held: Held, change: Change) {
  const { place } = await placeOf(held, change)
  await removeFrom(place, change.userId, await keptOf(held, change))
  if (change.userId === held.reader().userId) held.names.forget(change.workspaceId)
  forgetWorkspaces(held)
}

/** What a rekey ends for good. */
export async function rekeyEnds(held: Held, { workspaceId }: In) {
  return endedByRekey(held.api, workspaceId)
}

/** @throws Refused `not_signed`, ApiError `epoch_conflict` */
export async function rekey(held: Held, at: In, progress: (progress: Progress) => void) {
  const { place, chain } = await placeOf(held, at)
  // The keys of members are the server's word there: the command line knows those of before.
  if (chain === null) throw new Refused('not_signed')
  progress({ step: 'sealing', done: 0 })
  const work = rekeyWorkspace(
    held.api,
    place.workspace,
    async () => {},
    (done) => progress({ step: 'sealing', done }),
  )
  const { next, ...counts } = await work
  forgetWorkspaces(held)
  return { epoch: next.epoch, ...counts }
}
