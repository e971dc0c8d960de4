/** The people in a workspace. */
import {
  activeMembers,
  giveRole,
  type Invitee,
  invitePeople,
  readMembers,
  readPerson,
  removePerson,
} from '../../../client/actions/members.ts'
import { leaveWorkspace } from '../../../client/actions/workspaces.ts'
import { type Role, roles } from '../../../core/grant.ts'
import { isUuid } from '../../../core/validation/validate.ts'
import type { inviteOptions, removeMemberOptions, roleOptions } from '../../catalogue/options.ts'
import type { Action, OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { continued, nearNames } from '../../named.ts'
import { demandProjectFile } from '../../project_file.ts'
import { placeOf, type WorkspaceScope, workspaceScope } from '../../scope.ts'
import type { Session } from '../../session/session.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed } from '../../terminal/confirmed.ts'
import { keepTokensOf } from '../../tokens/ending_tokens.ts'
import { demandComparison } from '../../trust/compared_keys.ts'
import { compareFingerprints } from '../../trust/given_fingerprints.ts'
import { checkKnownKeys, refusing } from '../../trust/known_keys.ts'

export const list: Action = async (context) => {
  const listed = await readMembers(placeOf(await workspaceScope(context)))
  context.output.table(listed, ['email', 'name', 'role', 'status'])
  return undefined
}

type InviteOptions = OptionValues<typeof inviteOptions>

/** Seals the workspace key to each person; all their public keys are fetched at once. */
export const invite: Action<typeof inviteOptions> = async (context, emails, options) => {
  const role = roleOf(options.role)
  const scope = await workspaceScope(context)
  demandShared(context, scope)
  const [people, active] = await Promise.all([
    Promise.all(emails.map((email) => keysOf(scope.session, email))),
    activeMembers(placeOf(scope)),
  ])
  const able = await trusted(context, scope, people, { ...options, role, active })
  const outcome = able.length === 0 ? [] : await invitePeople(placeOf(scope), able, role, active)
  const unable = people.filter((person) => !able.includes(person))
  const refused = unable.map(({ email }) => ({ email, status: 'no_signing_key' }))
  const results = [...outcome, ...refused]
  const rows = results.map((row) => ({ ...row, role, workspace: scope.workspace.name }))
  context.output.table(rows, ['email', 'status', 'role', 'workspace'], results)
  return undefined
}

/** Prevents sharing a personal workspace by accident: only -w or the variable names it. @throws CliError */
function demandShared({ settings }: Context, { workspace: { name, type } }: WorkspaceScope): void {
  const origin = settings.workspace?.origin
  if (type !== 'personal' || origin === 'flag' || origin === 'environment') return
  throw new CliError(
    'usage',
    `${name} is a personal workspace; nobody was invited`,
    'create a shared one with: cloakroom workspace create NAME; then add -w NAME',
  )
}

/** Those to whom the key may be sealed. @throws CliError for keys that may be somebody else's */
async function trusted(
  context: Context,
  { session, workspace }: WorkspaceScope,
  people: readonly Invitee[],
  {
    acceptChangedKeys = false,
    fingerprint,
    role,
    active,
  }: InviteOptions & { role: Role; active: ReadonlySet<string> },
): Promise<Invitee[]> {
  const compared = await compareFingerprints(people, fingerprint)
  const chain = await workspace.chain()
  if (!chain) {
    await checkKnownKeys(context, session, people, acceptChangedKeys)
    return [...people]
  }
  const { members } = chain
  const able = people.filter(
    ({ user_id, signing_key }) => signing_key !== null || members.has(user_id),
  )
  const place = { name: workspace.name, role }
  await demandComparison(context, able, { members, active, place }, compared)
  return able
}

async function keysOf({ api }: Session, email: string): Promise<Invitee> {
  const person = await refusing(email, () => readPerson(api, email))
  if (person) return person
  throw new CliError(
    'not_found',
    `${email} has no account here`,
    'they register first: cloakroom register',
  )
}

function isAdmin(role: Role): boolean {
  return role === 'owner' || role === 'admin'
}

function roleOf(given: string | undefined): Role {
  const role = roles.find((candidate) => candidate === given)
  if (role) return role
  throw new CliError('usage', `the role must be one of ${roles.join(', ')}`)
}

export const remove: Action<typeof removeMemberOptions> = async (
  context,
  [email = ''],
  options,
) => {
  if (await left(context, email, options)) return undefined
  const scope = await workspaceScope(context)
  await demandMember(scope, email)
  await confirmed(context.host, options, `Remove ${email} from ${scope.workspace.name}?`)
  const kept = await keepTokensOf(context, scope, email, options)
  await removePerson(placeOf(scope), email, kept)
  context.output.done(
    `Removed ${email}. They knew the workspace key: seal everything anew with: cloakroom workspace rekey, which ends earlier versions and undelete`,
    { removed: email, rekey_required: true },
  )
  return undefined
}

/** Before anything is asked. An ID is left to the server. @throws CliError for an address that no member has */
async function demandMember(scope: WorkspaceScope, typed: string): Promise<void> {
  if (isUuid(typed)) return
  const known = (await readMembers(placeOf(scope))).map(({ email }) => email)
  if (known.includes(typed.toLowerCase())) return
  const hint = 'list the members with: cloakroom workspace members'
  const near = nearNames(typed, known)
  throw new CliError(
    'not_found',
    `${typed} is not a member of ${scope.workspace.name}`,
    near.length > 0 ? continued(`is it ${near.join(', ')}?`, hint) : hint,
  )
}

/** Leaving takes no key, so that one which does not open keeps nobody in. False for who removes somebody else. */
async function left(
  context: Context,
  email: string,
  options: OptionValues<typeof removeMemberOptions>,
): Promise<boolean> {
  const session = await context.session()
  if (email.toLowerCase() !== session.email.toLowerCase()) return false
  demandProjectFile(context, 'workspace')
  const workspace = await session.entry(context.settings.workspace?.value)
  const { id, name } = workspace
  await confirmed(context.host, options, `Leave ${name}?`)
  await leaveWorkspace(session.api, workspace, email)
  session.knownNames.forget(id)
  context.output.done(`You have left ${name}.`, { removed: email, rekey_required: true })
  return true
}

export const role: Action<typeof roleOptions> = async (context, [email = '', given], options) => {
  const scope = await workspaceScope(context)
  const next = roleOf(given)
  await demandMember(scope, email)
  const kept = isAdmin(next) ? [] : await keepTokensOf(context, scope, email, options)
  const changed = await giveRole(placeOf(scope), email, next, kept)
  context.output.done(`${changed.email} is now ${changed.role}.`, {
    email: changed.email,
    role: changed.role,
  })
  return undefined
}
