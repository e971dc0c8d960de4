/** Workspaces as they are shown: what their chains say of them, and nothing of their keys; making and ending them. */

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
import { type Chain, firstHash, identityFingerprint } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { forgetWorkspaces, workspaceOf, workspacesOf } from '../places.ts'

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

/** `fault` says why one is not used: its key, or its chain, is not what was signed or seen before. */
async function list(held: HeldKeys, _: null) {
  const entries = await workspacesOf(held)
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

/** A key that is known is trusted without the links; a person who looks should hear of those, too. */
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

async function projects(held: HeldKeys, { workspaceId }: In) {
  return held.api.list(listProjects, { query: { workspace_id: workspaceId } })
}

/** A signed one; returns its id. */
async function create(held: HeldKeys, { name }: { name: string }) {
  const { publicKey, userId, email, identity } = held.reader()
  const founder = { userId, email, identity: await identity() }
  const { id, known } = await createSignedWorkspace({ api: held.api, publicKey }, founder, name)
  held.names.noteWorkspace({ id, name })
  held.memory.chains.put(id, (before) => before ?? { ...known, manifests: {} })
  forgetWorkspaces(held)
  return { id }
}

async function rename(held: HeldKeys, { workspaceId, name }: In & { name: string }) {
  await workspaceOf(held, workspaceId)
  await held.api.call(renameWorkspace, { params: { workspace_id: workspaceId }, body: { name } })
  held.names.renamed({ id: workspaceId, name })
  forgetWorkspaces(held)
}

/** What goes with one that is deleted. */
function losses({ api }: HeldKeys, { workspaceId }: In) {
  return lossesOfWorkspace(api, workspaceId)
}

/** For good. @throws ApiError */
async function remove(held: HeldKeys, { workspaceId }: In) {
  await endWorkspace(held.api, await entryOf(held, workspaceId))
  forgetWorkspaces(held)
}

async function entryOf(held: HeldKeys, workspaceId: string) {
  const found = (await workspacesOf(held)).find(({ id }) => id === workspaceId)
  if (found) return found
  throw new Refused('not_found')
}

/** What a link of an invitation said: which history it is, and who sent it. */
type Expected = { first: string; inviter: string }

/** An invitation as its links tell it, looked at without being believed yet. @throws UntrustedChain */
async function invitation(
  held: HeldKeys,
  { workspaceId, expected }: In & { expected: Expected | null },
) {
  const { userId, email, identity } = held.reader()
  const own = { email, fingerprint: await identityFingerprint(await identity()) }
  forgetWorkspaces(held)
  const found = (await workspacesOf(held)).find(({ id }) => id === workspaceId)
  if (!found) return { own, found: null }
  if (!found.chains) {
    if (expected) throw new Refused('other_workspace')
    return { own, found: { name: found.name, status: found.status, role: found.role, by: null } }
  }
  const chain = await found.chains.unremembering().of(found)
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
  const first = hashInGroups(firstHash(chain))
  const { name, status } = found
  return { own, found: { name, status, role, by, first, seen: firstHash(chain) } }
}

function requireExpected(chain: Chain, { first, inviter }: Expected): void {
  const people = [...chain.members.values()]
  const isMember = people.some(({ email }) => email === inviter.toLowerCase())
  if (firstHash(chain) !== first || !isMember) throw new Refused('other_workspace')
}

/**
 * `seen` is the first link that was shown. One chain is compared with it and with the link, remembered, and has the key
 * of the workspace in it: whatever is read later must continue it.
 *
 * @throws UntrustedChain, Refused `other_workspace`, `unreadable_workspace`
 */
async function accept(
  held: HeldKeys,
  { workspaceId, expected, seen }: In & { expected: Expected | null; seen: string | null },
) {
  const found = await entryOf(held, workspaceId)
  const chain = await found.chains?.unremembering().of(found)
  if (chain && firstHash(chain) !== seen) throw new Refused('other_workspace')
  if (chain && expected) requireExpected(chain, expected)
  const compared = chain && {
    chain,
    pin: () =>
      held.memory.chains.put(found.id, (before) => before ?? { ...knownOf(chain), manifests: {} }),
  }
  if (!(await joinWorkspace(held.reader(), found, compared)))
    throw new Refused('unreadable_workspace')
  // The person has seen whose it is; others of this name stay what they are.
  held.names.renamed(found)
  forgetWorkspaces(held)
}

async function decline(held: HeldKeys, { workspaceId }: In) {
  await refuseInvitation(held.api, await entryOf(held, workspaceId))
  forgetWorkspaces(held)
}

/** What a link for invited people carries, none of it secret. @throws UntrustedChain */
async function invitationLink(held: HeldKeys, { workspaceId }: In) {
  const found = await entryOf(held, workspaceId)
  if (!found.chains) throw new Refused('not_signed')
  if (found.fault instanceof UntrustedChain) throw found.fault
  const first = firstHash(await found.chains.of(found))
  return { workspace: workspaceId, first, by: held.reader().email, server: location.origin }
}
