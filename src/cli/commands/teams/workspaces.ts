/** Workspaces: making, naming and ending them, and what one is invited to. */
import {
  createSignedWorkspace,
  endWorkspace,
  lossesOfWorkspace,
  refuseInvitation,
} from '../../../client/actions/workspaces.ts'
import { ApiError } from '../../../client/http/api.ts'
import { UntrustedChain } from '../../../client/signed/chain.ts'
import { ownId } from '../../../client/signed/sign_change.ts'
import type { WorkspaceEntry } from '../../../client/workspaces.ts'
import { getMe } from '../../../features/accounts/contract.ts'
import {
  acceptInvitation,
  listWorkspacesEndpoint,
  renameWorkspace,
} from '../../../features/workspaces/contract.ts'
import { isRekeyDue } from '../../../sigchain/index.ts'
import type { confirmOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import type { Context } from '../../context.ts'
import { oneNamed } from '../../named.ts'
import { namesOfWorkspaces } from '../../session/chosen.ts'
import type { Session } from '../../session/session.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed, counted, countedAll } from '../../terminal/confirmed.ts'
import { ID } from '../../terminal/table.ts'
import { openKnownChains } from '../../trust/known_chains.ts'
import { remember } from './projects.ts'

export const list: Action = async (context) => {
  const session = await context.session()
  const workspaces = await session.workspaces()
  const rows = await Promise.all(
    workspaces.map(async (workspace) => {
      const { id, name, type, role, status, epoch } = workspace
      const rekey_required = await rekeyOf(workspace)
      return { name, type, role, status, epoch, rekey_required, id }
    }),
  )
  context.output.table(rows, ['name', 'type', 'role', 'status', 'rekey_required', ID])
  return undefined
}

/** Also by the links: what the server says of it is not signed. */
async function rekeyOf(workspace: WorkspaceEntry): Promise<string> {
  const { status, fault, rekey_required, chains } = workspace
  if (fault instanceof UntrustedChain) return 'unverified'
  if (rekey_required) return 'yes'
  if (!chains || status !== 'active') return ''
  const chain = await chains.of(workspace).catch((error: unknown) => {
    if (error instanceof UntrustedChain || error instanceof ApiError) return null
    throw error
  })
  if (chain === null) return 'unverified'
  return isRekeyDue(chain) ? 'yes' : ''
}

export const create: Action<typeof confirmOptions> = async (context, [name = ''], { yes }) => {
  const session = await context.session()
  if (!yes) await demandNewName(session, name)
  const { id, known } = await createSignedWorkspace(session, await founderOf(session), name)
  const chains = openKnownChains(context.env, session.server)
  session.writes.remember(() => chains.remember(id, known))
  session.knownNames.accept(namesOfWorkspaces(session), name, [id])
  context.output.record({ id, name }, id)
  return undefined
}

/** Reads the server's list alone, because nothing in it is used. @throws CliError */
async function demandNewName({ api }: Session, name: string): Promise<void> {
  const listed = await api.list(listWorkspacesEndpoint, {})
  if (!listed.some((workspace) => workspace.name === name && workspace.status === 'active')) return
  throw new CliError(
    'name_taken',
    `you have a workspace ${name} already; nothing was created`,
    `use it with: cloakroom workspace use ${name}; or add --yes to create another one`,
  )
}

async function founderOf(session: Session) {
  const [me, identity] = await Promise.all([session.api.call(getMe, {}), session.identity()])
  return { userId: me.id, email: session.email, identity }
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
  session.knownNames.accept(namesOfWorkspaces(session), name, [id])
  context.output.done(`${before} is ${now} now.`, { id, workspace: now, renamed_from: before }, id)
  return undefined
}

/** For good: nobody can restore a workspace. */
export const removeAll: Action<typeof confirmOptions> = async (context, [named = ''], options) => {
  const session = await context.session()
  const workspace = await session.entry(named)
  const { id, name } = workspace
  await confirmed(context.host, options, async () => {
    const { projects, agents, people } = await lossesOfWorkspace(session.api, id)
    const lost = countedAll({ project: projects.length, agent: agents })
    const names = projects.length > 0 ? ` (${projects.join(', ')})` : ''
    return `Delete ${name} for ${counted(people, 'member')}, with ${lost || 'all that it holds'}${names}? Nobody can bring it back.`
  })
  await endWorkspace(session.api, workspace)
  session.knownNames.forget(id)
  context.output.done(`Deleted ${name}, with all that it held.`, { deleted: name, id })
  return undefined
}

export const accept: Action = async (context, [named = '']) => {
  const { session, found } = await invitation(context, named)
  await demandSignedInvitation(session, found)
  if (found.shown === null) {
    throw new CliError(
      'unreadable_workspace',
      `the key of ${found.name} does not open with your private key; nothing was accepted`,
      `run cloakroom workspace decline ${found.name}, and ask to be invited again`,
    )
  }
  await session.api.call(acceptInvitation, { params: { workspace_id: found.id } })
  const { name, id } = found
  context.output.done(`You are a member of ${name}.`, { accepted: name, id })
  return undefined
}

/** Somebody who may invite has signed it, and the key is the one that the members have. @throws UntrustedChain */
async function demandSignedInvitation(session: Session, { shown, ...found }: WorkspaceEntry) {
  const chain = await found.chain()
  if (!chain) return
  const email = session.email.toLowerCase()
  // An invitation to keys that this person has replaced since is no forgery: it does not open.
  const isNamed = [...chain.members.values()].some((member) => member.email === email)
  if (isNamed && !shown) return
  ownId(chain, found, (await session.identity()).signing_key)
  if (shown) await session.chains.requireKey(shown)
}

export const decline: Action = async (context, [named = '']) => {
  const { session, found } = await invitation(context, named)
  const { name, id } = found
  await refuseInvitation(session.api, found)
  context.output.done(`Declined ${name}.`, { declined: name, id })
  return undefined
}

async function invitation(context: Context, named: string) {
  const session = await context.session()
  const invited = (await session.workspaces()).filter(({ status }) => status === 'invited')
  const found = oneNamed(invited, named, { what: 'invitation to', list: 'workspace list' })
  return { session, found }
}
