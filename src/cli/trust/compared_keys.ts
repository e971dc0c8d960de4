/**
 * Keys of those who are invited to a signed workspace. From the link on they are members for everybody, so the
 * fingerprint is compared once, by the person who invites and over another channel than the server.
 */
import { isSamePerson } from '../../client/actions/members.ts'
import { identityFingerprint, type Member } from '../../sigchain/index.ts'
import type { Context } from '../context.ts'
import { CliError } from '../terminal/cli_error.ts'
import type { KeysOfPerson } from './known_keys.ts'

type Invited = KeysOfPerson & { user_id: string }

type Invitations = {
  members: ReadonlyMap<string, Member>
  active: ReadonlySet<string>
  /** The workspace and the role that the question names. */
  place: { name: string; role: string }
}

/**
 * Asks to compare the fingerprint of each person without a link. `compared` are addresses with matching given
 * fingerprints. @throws CliError for different or uncompared keys
 */
export async function demandComparison(
  context: Context,
  people: readonly Invited[],
  { members, active, place }: Invitations,
  compared: ReadonlySet<string>,
): Promise<void> {
  for (const person of people) {
    const member = members.get(person.user_id)
    if (member) demandSame(person, member, active.has(person.user_id))
    else if (!compared.has(person.email.toLowerCase())) await askComparison(context, person, place)
  }
}

/** Members sign their new keys. Invited people cannot, so their invitation is for the old keys. */
function demandSame(person: Invited, member: Member, isActive: boolean): void {
  if (isSamePerson(person, member)) return
  if (!isActive) {
    throw new CliError(
      'replaced_keys',
      `${person.email} was invited with different keys than the server now shows; nothing was sealed to them`,
      `run cloakroom workspace remove ${person.email}, compare fingerprints, and invite again`,
    )
  }
  throw new CliError(
    'unproven_key',
    `the server shows keys of ${person.email} that differ from the signed ones`,
    'nothing was sealed to them; contact the server operator',
  )
}

async function askComparison(
  { host, output }: Context,
  person: Invited,
  { name, role }: Invitations['place'],
): Promise<void> {
  const { email } = person
  const fingerprint = await identityFingerprint(person)
  output.warn(`${email}  ${fingerprint}`)
  const { askConfirmation } = await import('../terminal/prompts.ts')
  const question = `Call or meet ${email}. Does their cloakroom whoami print this fingerprint? Invite them to ${name} as ${role}?`
  const hint = `compare it with the output of cloakroom whoami on their machine, and pass --fingerprint ${email}=FINGERPRINT`
  if (!(await askConfirmation(host, question, hint))) {
    throw new CliError('not_confirmed', 'nobody was invited')
  }
}
