/** The people in a workspace. In a signed one each change is a link, and recipients are who its links name. */
import { ApiError } from '../../../client/api.ts'
import { keptBy, type SignedToken } from '../../../client/signed/kept_tokens.ts'
import { getPublicKey } from '../../../features/accounts/contract.ts'
import {
  changeMemberRole,
  inviteMembersEndpoint,
  listMembers,
  removeMember,
} from '../../../features/workspaces/contract.ts'
import { fromBase64 } from '../../../platform/crypto/encoding.ts'
import { sealMemberEnvelope } from '../../../platform/crypto/envelope.ts'
import { type Role, roles } from '../../../platform/grant.ts'
import { isSignedId, type SignedText } from '../../../sigchain/index.ts'
import type { inviteOptions, removeMemberOptions, roleOptions } from '../../catalogue/options.ts'
import type { Action, OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { keepTokensOf, memberNamed } from '../../ending_tokens.ts'
import { type WorkspaceScope, workspaceScope } from '../../scope.ts'
import type { Session } from '../../session/session.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed } from '../../terminal/confirmed.ts'
import { demandComparison } from '../../trust/compared_keys.ts'
import { checkKnownKeys, demandProof } from '../../trust/known_keys.ts'

export const list: Action = async (context) => {
  const { session, workspace } = await workspaceScope(context)
  const [rows, chain] = await Promise.all([
    session.api.list(listMembers, { params: { workspace_id: workspace.id } }),
    isSignedId(workspace.id) ? session.chains.of(workspace) : null,
  ])
  const byId = new Map(rows.map((row) => [row.user_id, row]))
  // Rows say of who was signed the name, and whether they accepted.
  const listed = chain
    ? [...chain.members.values()].map((member) => ({ ...byId.get(member.user_id), ...member }))
    : rows
  context.output.table(listed, ['email', 'name', 'role', 'status'])
  return undefined
}

type InviteOptions = OptionValues<typeof inviteOptions>
type Person = Awaited<ReturnType<typeof keysOf>>

/** Seals the workspace key to each person; all their public keys are fetched at once. */
export const invite: Action<typeof inviteOptions> = async (context, emails, options) => {
  const role = roleOf(options.role)
  const scope = await workspaceScope(context)
  const { session, workspace } = scope
  const [people, active] = await Promise.all([
    Promise.all(emails.map((email) => keysOf(session, email))),
    activeMembers(scope),
  ])
  const able = await trusted(context, scope, people, options)
  const { id, open } = workspace
  const invites = await Promise.all(
    able.map(async ({ email, bytes }) => {
      const place = { workspaceId: id, recipientPublicKey: bytes, epoch: open.epoch }
      const encrypted_workspace_key = await sealMemberEnvelope(place, open.key)
      return { email, role, encrypted_workspace_key }
    }),
  )
  const params = { workspace_id: id }
  const outcome =
    invites.length === 0
      ? []
      : await session.sign(
          workspace,
          () =>
            linkFor(
              able.filter(({ user_id }) => !active.has(user_id)),
              role,
            ),
          (link) => {
            const body = { invites, epoch: open.epoch, link }
            return session.api.call(inviteMembersEndpoint, { params, body })
          },
        )
  const unable = people.filter((person) => !able.includes(person))
  const refused = unable.map(({ email }) => ({ email, status: 'no_signing_key' }))
  context.output.table([...outcome, ...refused], ['email', 'status'])
  return undefined
}

/** Who is a member by the server's list, which an invitation's link leaves out. */
async function activeMembers({ session, workspace }: WorkspaceScope): Promise<Set<string>> {
  if (!isSignedId(workspace.id)) return new Set()
  const [listed] = await Promise.all([
    session.api.list(listMembers, { params: { workspace_id: workspace.id } }),
    session.chains.of(workspace),
  ])
  const active = listed.filter(({ status }) => status === 'active')
  return new Set(active.map(({ user_id }) => user_id))
}

/** Those to whom the key may be sealed. @throws CliError for keys that may be somebody else's */
async function trusted(
  context: Context,
  { session, workspace }: WorkspaceScope,
  people: readonly Person[],
  { acceptChangedKeys = false, fingerprint }: InviteOptions,
): Promise<Person[]> {
  if (!isSignedId(workspace.id)) {
    await checkKnownKeys(context, session, people, acceptChangedKeys)
    return [...people]
  }
  const { members } = await session.chains.of(workspace)
  const able = people.filter(
    ({ user_id, signing_key }) => signing_key !== null || members.has(user_id),
  )
  await demandComparison(context, able, members, fingerprint)
  return able
}

function linkFor(people: readonly Person[], role: Role) {
  if (people.length === 0) return null
  const members = people.map(({ user_id, email, signing_key, public_key }) => ({
    ...{ user_id, email, public_key, role },
    signing_key: signing_key ?? '',
  }))
  return { type: 'members.put', body: { members } } as const
}

async function keysOf(session: Session, email: string) {
  try {
    const { user_id, public_key, signing_key, key_proof } = await session.api.call(getPublicKey, {
      params: { email },
    })
    const person = { user_id, email: email.toLowerCase(), public_key, signing_key }
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

function isAdmin(role: Role): boolean {
  return role === 'owner' || role === 'admin'
}

function roleOf(given: string | undefined): Role {
  const role = roles.find((candidate) => candidate === given)
  if (role) return role
  throw new CliError('usage', `the role must be one of ${roles.join(', ')}`)
}

/** Nothing that was signed ends without a link. */
function grantsWith(
  link: SignedText | undefined,
  { workspace }: WorkspaceScope,
  kept: readonly SignedToken[],
) {
  return link && kept.length > 0 ? keptBy(workspace.open, kept) : undefined
}

export const remove: Action<typeof removeMemberOptions> = async (
  context,
  [email = ''],
  options,
) => {
  const scope = await workspaceScope(context)
  const { session, workspace } = scope
  await confirmed(options, `Remove ${email} from ${workspace.name}?`)
  const kept = await keepTokensOf(context, scope, email, options)
  const params = { workspace_id: workspace.id, member: email }
  await session.sign(
    workspace,
    (chain) => {
      const member = memberNamed(chain, email)
      return member && { type: 'members.removed', body: { user_ids: [member.user_id] } }
    },
    async (link) => {
      const grants = await grantsWith(link, scope, kept)
      return session.api.call(removeMember, { params, body: { link, grants } })
    },
  )
  context.output.done(
    `Removed ${email}. They knew the workspace key: seal everything anew with: cloakroom workspace rekey, which ends earlier versions and undelete`,
    { removed: email, rekey_required: true },
  )
  return undefined
}

export const role: Action<typeof roleOptions> = async (context, [email = '', given], options) => {
  const scope = await workspaceScope(context)
  const { session, workspace } = scope
  const params = { workspace_id: workspace.id, member: email }
  const next = roleOf(given)
  const kept = isAdmin(next) ? [] : await keepTokensOf(context, scope, email, options)
  const changed = await session.sign(
    workspace,
    (chain) => {
      const member = memberNamed(chain, email)
      if (member === null || member.role === next) return null
      return { type: 'members.put', body: { members: [{ ...member, role: next }] } }
    },
    async (link) => {
      const grants = await grantsWith(link, scope, kept)
      return session.api.call(changeMemberRole, { params, body: { role: next, link, grants } })
    },
  )
  context.output.done(`${changed.email} is now ${changed.role}.`, {
    email: changed.email,
    role: changed.role,
  })
  return undefined
}
