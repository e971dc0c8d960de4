/** Lists workspaces by their chains and without their keys, and creates, renames, joins and deletes them. */

import { joinWorkspace } from '../../../../client/actions/members.ts'
import {
  createSignedWorkspace,
  endWorkspace,
  lossesOfWorkspace,
  refuseInvitation,
} from '../../../../client/actions/workspaces.ts'
import { knownOf, UntrustedChain } from '../../../../client/signed/chain.ts'
import { ownId } from '../../../../client/signed/sign_change.ts'
import { hashInGroups } from '../../../../client/signed/trust.ts'
import type { WorkspaceEntry } from '../../../../client/workspaces.ts'
import { listProjects } from '../../../../features/projects/contract.ts'
import { renameWorkspace } from '../../../../features/workspaces/contract.ts'
import { type Chain, identityFingerprint, readFirstHash } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import { forgetWorkspaces, workspaceOf, workspacesOf } from '../places.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const workspacesCommands = {
  list,
  projects,
  create,
  rename,
  losses,
  remove,
  invitation,
  accept,
  decline,
  invitationLink,
}

type In = { workspaceId: string }

/** `fault` is the reason why a workspace is blocked: its key or chain differs from what was signed or pinned. */
async function list(session: UnlockedSession, _: null) {
  const entries = await workspacesOf(session)
  return Promise.all(
    entries.map(async (entry) => {
      const { id, name, type, status, role, epoch, shown, chains } = entry
      const fault = entry.fault ?? (await chainFaultOf(entry))
      return {
        ...{ id, name, type, status, role, epoch },
        isSigned: chains !== null,
        isReadable: shown !== null,
        fault: fault?.message ?? null,
      }
    }),
  )
}

/** A pinned key is trusted without reading the links, so the list checks them separately. */
async function chainFaultOf({ status, chain }: WorkspaceEntry) {
  if (status !== 'active') return null
  return chain().then(
    () => null,
    (error: unknown) => {
      if (error instanceof UntrustedChain) return error
      throw error
    },
  )
}

async function projects(session: UnlockedSession, { workspaceId }: In) {
  return session.api.list(listProjects, { query: { workspace_id: workspaceId } })
}

/** Creates a signed workspace and returns its ID. */
async function create(session: UnlockedSession, { name }: { name: string }) {
  const { publicKey, userId, email, identity } = session.reader()
  const founder = { userId, email, identity: await identity() }
  const { id, known } = await createSignedWorkspace({ api: session.api, publicKey }, founder, name)
  session.names.noteWorkspace({ id, name })
  session.memory.chains.put(id, (before) => before ?? { ...known, manifests: {} })
  forgetWorkspaces(session)
  return { id }
}

async function rename(session: UnlockedSession, { workspaceId, name }: In & { name: string }) {
  await workspaceOf(session, workspaceId)
  await session.api.call(renameWorkspace, { params: { workspace_id: workspaceId }, body: { name } })
  session.names.recordRename({ id: workspaceId, name })
  forgetWorkspaces(session)
}

/** Counts what is deleted with a workspace. */
function losses({ api }: UnlockedSession, { workspaceId }: In) {
  return lossesOfWorkspace(api, workspaceId)
}

/** Deletes a workspace permanently. @throws ApiError */
async function remove(session: UnlockedSession, { workspaceId }: In) {
  await endWorkspace(session.api, await entryOf(session, workspaceId))
  forgetWorkspaces(session)
}

async function entryOf(session: UnlockedSession, workspaceId: string) {
  const found = (await workspacesOf(session)).find(({ id }) => id === workspaceId)
  if (found) return found
  throw new Refused('not_found')
}

/** The contents of an invitation link: the history's first hash and the inviter. */
type Expected = { first: string; inviter: string }

/** Reads an invitation without trusting its chain yet. @throws UntrustedChain */
async function invitation(
  session: UnlockedSession,
  { workspaceId, expected }: In & { expected: Expected | null },
) {
  const { userId, email, identity } = session.reader()
  const own = { email, fingerprint: await identityFingerprint(await identity()) }
  forgetWorkspaces(session)
  const found = (await workspacesOf(session)).find(({ id }) => id === workspaceId)
  if (!found) return { own, found: null }
  if (!found.chains) {
    if (expected) throw new Refused('other_workspace')
    return { own, found: { name: found.name, status: found.status, role: found.role, by: null } }
  }
  const chain = await found.chains.createForgetfulChains().of(found)
  if (expected) requireExpected(chain, expected)
  ownId(chain, found, (await identity()).signing_key)
  const role = chain.members.get(userId)?.role ?? found.role
  const by = await Promise.all(
    [...chain.members.values()]
      .filter((member) => member.role === 'owner' || member.role === 'admin')
      .map(async (member) => ({
        email: member.email,
        fingerprint: await identityFingerprint(member),
      })),
  )
  const first = hashInGroups(readFirstHash(chain))
  const { name, status } = found
  return { own, found: { name, status, role, by, first, seen: readFirstHash(chain) } }
}

function requireExpected(chain: Chain, { first, inviter }: Expected): void {
  const people = [...chain.members.values()]
  const isMember = people.some(({ email }) => email === inviter.toLowerCase())
  if (readFirstHash(chain) !== first || !isMember) throw new Refused('other_workspace')
}

/**
 * Accepts an invitation. `seen` is the hash that was shown. The chain must match it and the invitation link, and is then
 * pinned: later reads must continue it.
 *
 * @throws UntrustedChain, Refused `other_workspace`, `unreadable_workspace`
 */
async function accept(
  session: UnlockedSession,
  { workspaceId, expected, seen }: In & { expected: Expected | null; seen: string | null },
) {
  const found = await entryOf(session, workspaceId)
  const chain = await found.chains?.createForgetfulChains().of(found)
  if (chain && readFirstHash(chain) !== seen) throw new Refused('other_workspace')
  if (chain && expected) requireExpected(chain, expected)
  const compared = chain && {
    chain,
    pin: () =>
      session.memory.chains.put(
        found.id,
        (before) => before ?? { ...knownOf(chain), manifests: {} },
      ),
  }
  if (!(await joinWorkspace(session.reader(), found, compared)))
    throw new Refused('unreadable_workspace')
  // The user has checked this workspace. Other workspaces with the same name stay pinned.
  session.names.recordRename(found)
  forgetWorkspaces(session)
}

async function decline(session: UnlockedSession, { workspaceId }: In) {
  await refuseInvitation(session.api, await entryOf(session, workspaceId))
  forgetWorkspaces(session)
}

/** The contents of an invitation link, none of them secret. @throws UntrustedChain */
async function invitationLink(session: UnlockedSession, { workspaceId }: In) {
  const found = await entryOf(session, workspaceId)
  if (!found.chains) throw new Refused('not_signed')
  if (found.fault instanceof UntrustedChain) throw found.fault
  const first = readFirstHash(await found.chains.of(found))
  return { workspace: workspaceId, first, by: session.reader().email, server: location.origin }
}
