/** Shared by the commands for workspaces and their members. */
import { readMembers } from '../../client/actions/members.ts'
import type { WorkspaceEntry } from '../../client/workspaces.ts'
import { type Role, roles } from '../../core/grant.ts'
import { isUuid } from '../../core/validation/validate.ts'
import type { Context } from '../context.ts'
import { findNearNames, joinHints, requireItem } from '../named.ts'
import { demandProjectFile } from '../project_file.ts'
import { placeOf, type WorkspaceScope } from '../scope.ts'
import type { Session } from '../session/session.ts'
import { CliError } from '../terminal/cli_error.ts'

export async function invitation(context: Context, named: string) {
  const session = await context.session()
  const invited = (await session.workspaces()).filter(({ status }) => status === 'invited')
  const found = requireItem(invited, named, { what: 'invitation to', list: 'workspace list' })
  return { session, found }
}

export type Place = { session: Session; workspace: WorkspaceEntry }

/** Also accepts a workspace with an untrusted key. @throws CliError */
export async function chooseAnyWorkspace(context: Context): Promise<Place> {
  demandProjectFile(context, 'workspace')
  const session = await context.session()
  return { session, workspace: await session.entry(context.settings.workspace?.value) }
}

export function demandSigned({ chains, name }: WorkspaceEntry): void {
  if (chains) return
  const hint = 'the server is trusted for this workspace; new workspaces are signed'
  throw new CliError('not_signed', `${name} is not signed`, hint)
}

export function roleOf(given: string | undefined): Role {
  const role = roles.find((candidate) => candidate === given)
  if (role) return role
  throw new CliError('usage', `the role must be one of ${roles.join(', ')}`)
}

/** Before anything is asked. An ID is left to the server. @throws CliError for an address that no member has */
export async function demandMember(scope: WorkspaceScope, typed: string): Promise<void> {
  if (isUuid(typed)) return
  const known = (await readMembers(placeOf(scope))).map(({ email }) => email)
  if (known.includes(typed.toLowerCase())) return
  const hint = 'list the members with: cloakroom workspace members'
  const near = findNearNames(typed, known)
  throw new CliError(
    'not_found',
    `${typed} is not a member of ${scope.workspace.name}`,
    near.length > 0 ? joinHints(`is it ${near.join(', ')}?`, hint) : hint,
  )
}
