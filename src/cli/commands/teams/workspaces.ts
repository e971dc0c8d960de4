/** Workspaces and the people in them. */

import { ApiError } from '../../../client/api.ts'
import { getPublicKey } from '../../../features/accounts/contract.ts'
import { listAgents } from '../../../features/agents/contract.ts'
import { listProjects } from '../../../features/projects/contract.ts'
import {
  acceptInvitation,
  changeMemberRole,
  createWorkspaceEndpoint,
  declineInvitation,
  deleteWorkspace,
  inviteMembersEndpoint,
  listMembers,
  removeMember,
  renameWorkspace,
} from '../../../features/workspaces/contract.ts'
import { fromBase64, uuidv7 } from '../../../platform/crypto/encoding.ts'
import { sealMemberEnvelope } from '../../../platform/crypto/envelope.ts'
import { type Role, roles } from '../../../platform/grant.ts'
import type { confirmOptions, inviteOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import { oneNamed } from '../../named.ts'
import { workspaceScope } from '../../scope.ts'
import type { Session } from '../../session/session.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed, counted, countedAll } from '../../terminal/confirmed.ts'
import { ID } from '../../terminal/table.ts'
import { checkKnownKeys, demandProof } from '../../trust/known_keys.ts'
import { remember } from './projects.ts'

export const list: Action = async (context) => {
  const session = await context.session()
  const workspaces = await session.workspaces()
  const rows = workspaces.map(({ id, name, type, role, status, epoch, rekey_required }) => ({
    name,
    type,
    role,
    status,
    epoch,
    rekey_required: rekey_required ? 'yes' : '',
    id,
  }))
  context.output.table(rows, ['name', 'type', 'role', 'status', 'rekey_required', ID])
  return undefined
}

export const create: Action = async (context, [name = '']) => {
  const session = await context.session()
  const id = uuidv7()
  const place = { workspaceId: id, recipientPublicKey: session.publicKey, epoch: 1 }
  const key = crypto.getRandomValues(new Uint8Array(32))
  const encrypted_workspace_key = await sealMemberEnvelope(place, key)
  const workspace = await session.api.call(createWorkspaceEndpoint, {
    body: { id, name, encrypted_workspace_key },
  })
  session.workspaceKeys.remember({ id, name, epoch: 1, key })
  context.output.record({ id: workspace.id, name: workspace.name }, workspace.id)
  return undefined
}

export const use: Action = async (context, [named = '']) => {
  const { id } = await (await context.session()).workspace(named)
  remember(context, { workspace: id, project: undefined })
  return undefined
}

export const rename: Action = async (context, [named = '', name = '']) => {
  const session = await context.session()
  const { id, name: before } = await session.entry(named)
  const { name: now } = await session.api.call(renameWorkspace, {
    params: { workspace_id: id },
    body: { name },
  })
  context.output.done(`${before} is ${now} now.`, { id, workspace: now, renamed_from: before }, id)
  return undefined
}

/** For good: nobody can restore a workspace. */
export const removeAll: Action<typeof confirmOptions> = async (context, [named = ''], options) => {
  const session = await context.session()
  const { id, name } = await session.entry(named)
  const params = { workspace_id: id }
  await confirmed(options, async () => {
    const [projects, agents, people] = await Promise.all([
      session.api.list(listProjects, { query: params }),
      session.api.list(listAgents, { params }),
      session.api.list(listMembers, { params }),
    ])
    const lost = countedAll({ project: projects.length, agent: agents.length })
    const names =
      projects.length > 0 ? ` (${projects.map((project) => project.name).join(', ')})` : ''
    return `Delete ${name} for ${counted(people.length, 'member')}, with ${lost || 'all that it holds'}${names}? Nobody can bring it back.`
  })
  await session.api.call(deleteWorkspace, { params })
  context.output.done(`Deleted ${name}, with all that it held.`, { deleted: name, id })
  return undefined
}

export const members: Action = async (context) => {
  const { session, workspace } = await workspaceScope(context)
  const listed = await session.api.list(listMembers, { params: { workspace_id: workspace.id } })
  context.output.table(listed, ['email', 'name', 'role', 'status'])
  return undefined
}

/** Seals the workspace key to each person; all their public keys are fetched at once. */
export const invite: Action<typeof inviteOptions> = async (context, emails, options) => {
  const role = roleOf(options.role)
  const { session, workspace } = await workspaceScope(context)
  const people = await Promise.all(emails.map((email) => keysOf(session, email)))
  await checkKnownKeys(context, session, people, options.acceptChangedKeys ?? false)
  const invites = await Promise.all(
    people.map(async ({ email, bytes }) => {
      const place = {
        workspaceId: workspace.id,
        recipientPublicKey: bytes,
        epoch: workspace.open.epoch,
      }
      return {
        email,
        role,
        encrypted_workspace_key: await sealMemberEnvelope(place, workspace.open.key),
      }
    }),
  )
  const outcome = await session.api.call(inviteMembersEndpoint, {
    params: { workspace_id: workspace.id },
    body: { invites, epoch: workspace.open.epoch },
  })
  context.output.table(outcome, ['email', 'status'])
  return undefined
}

async function keysOf(session: Session, email: string) {
  try {
    const { public_key, signing_key, key_proof } = await session.api.call(getPublicKey, {
      params: { email },
    })
    const person = { email: email.toLowerCase(), public_key, signing_key }
    await demandProof(person, key_proof)
    const bytes = fromBase64(public_key)
    if (bytes) return { ...person, bytes }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
  throw new CliError(
    'not_found',
    `${email} has no account here`,
    'they register first: cloakroom register',
  )
}

function roleOf(given: string | undefined): Role {
  const role = roles.find((candidate) => candidate === given)
  if (role) return role
  throw new CliError('usage', `the role must be one of ${roles.join(', ')}`)
}

export const accept: Action = (context, [named = '']) => answer(context, named, 'accept')
export const decline: Action = (context, [named = '']) => answer(context, named, 'decline')

async function answer(
  context: Parameters<Action>[0],
  named: string,
  how: 'accept' | 'decline',
): Promise<undefined> {
  const session = await context.session()
  const invited = (await session.workspaces()).filter(({ status }) => status === 'invited')
  const found = oneNamed(invited, named, { what: 'invitation to', list: 'workspace list' })
  const endpoint = how === 'accept' ? acceptInvitation : declineInvitation
  await session.api.call(endpoint, { params: { workspace_id: found.id } })
  context.output.done(
    how === 'accept' ? `You are a member of ${found.name}.` : `Declined ${found.name}.`,
    { [how === 'accept' ? 'accepted' : 'declined']: found.name, id: found.id },
  )
  return undefined
}

export const remove: Action<typeof confirmOptions> = async (context, [email = ''], options) => {
  const { session, workspace } = await workspaceScope(context)
  await confirmed(options, `Remove ${email} from ${workspace.name}?`)
  await session.api.call(removeMember, { params: { workspace_id: workspace.id, member: email } })
  context.output.done(
    `Removed ${email}. They knew the workspace key: seal everything anew with: cloakroom workspace rekey, which ends earlier versions and undelete`,
    { removed: email, rekey_required: true },
  )
  return undefined
}

export const role: Action = async (context, [email = '', given]) => {
  const { session, workspace } = await workspaceScope(context)
  const params = { workspace_id: workspace.id, member: email }
  const member = await session.api.call(changeMemberRole, { params, body: { role: roleOf(given) } })
  context.output.done(`${member.email} is now ${member.role}.`, {
    email: member.email,
    role: member.role,
  })
  return undefined
}
