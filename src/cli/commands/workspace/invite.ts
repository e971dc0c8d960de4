import {
  type Invitee,
  invitePeople,
  listActiveMembers,
  readPerson,
} from '../../../client/actions/members.ts'
import { roleHelp } from '../../../client/role_table.ts'
import type { Role } from '../../../core/grant.ts'
import { command, type OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { acceptChanged } from '../../options.ts'
import { placeOf, type WorkspaceScope, workspaceScope } from '../../scope.ts'
import type { Session } from '../../session/session.ts'
import { roleOf } from '../../teams/workspaces.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { demandComparison } from '../../trust/compared_keys.ts'
import { compareFingerprints } from '../../trust/given_fingerprints.ts'
import { checkKnownKeys, explainRefusedKey } from '../../trust/known_keys.ts'

const options = [
  ['--role <role>', 'owner, admin, member or read_only', 'member'],
  acceptChanged,
  [
    '--fingerprint <address=fingerprint...>',
    'fingerprint that whoami prints for the invited person',
  ],
] as const

/** Seals the workspace key to each person; all their public keys are fetched at once. */
export default command({
  usage: 'invite <emails...>',
  examples: ['workspace invite grace@example.com alan@example.com --role member'],
  details: roleHelp,
  options,
  action: async (context, emails, options) => {
    const role = roleOf(options.role)
    const scope = await workspaceScope(context)
    demandShared(context, scope)
    const [people, active] = await Promise.all([
      Promise.all(emails.map((email) => keysOf(scope.session, email))),
      listActiveMembers(placeOf(scope)),
    ])
    const able = await selectTrusted(context, scope, people, { ...options, role, active })
    const outcome = able.length === 0 ? [] : await invitePeople(placeOf(scope), able, role, active)
    const unable = people.filter((person) => !able.includes(person))
    const refused = unable.map(({ email }) => ({ email, status: 'no_signing_key' }))
    const results = [...outcome, ...refused]
    const rows = results.map((row) => ({ ...row, role, workspace: scope.workspace.name }))
    context.output.table(rows, ['email', 'status', 'role', 'workspace'], results)
  },
})

type InviteOptions = OptionValues<typeof options>

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

/** The invitees with confirmed keys. @throws CliError for keys that may belong to someone else */
async function selectTrusted(
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
  const person = await explainRefusedKey(email, () => readPerson(api, email))
  if (person) return person
  throw new CliError(
    'not_found',
    `${email} has no account here`,
    'ask them to register first: cloakroom register',
  )
}
