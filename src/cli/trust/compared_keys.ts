/**
 * Keys of those who are invited to a signed workspace. From the link on they are members for everybody, so the
 * fingerprint is compared once, by the person who invites and over another channel than the server.
 */
import { isSamePerson } from '../../client/members.ts'
import { identityFingerprint, type Member } from '../../sigchain/index.ts'
import type { Context } from '../context.ts'
import { CliError } from '../terminal/cli_error.ts'
import type { KeysOfPerson } from './known_keys.ts'

type Invited = KeysOfPerson & { user_id: string }

/**
 * Asks about each who is not named by a link yet; `given` are fingerprints that were compared before.
 *
 * @throws CliError where a fingerprint is another one, or was not compared
 */
export async function demandComparison(
  context: Context,
  people: readonly Invited[],
  { members, active }: { members: ReadonlyMap<string, Member>; active: ReadonlySet<string> },
  given: readonly string[] | undefined,
): Promise<void> {
  for (const person of people) {
    const member = members.get(person.user_id)
    if (member) demandSame(person, member, active.has(person.user_id))
    else await demandCompared(context, person, given)
  }
}

/** Members sign their new keys. Somebody who was only invited cannot: then the invitation is for the old keys. */
function demandSame(person: Invited, member: Member, isActive: boolean): void {
  if (isSamePerson(person, member)) return
  if (!isActive) {
    throw new CliError(
      'replaced_keys',
      `${person.email} was invited with other keys than the server shows now; nothing was sealed to them`,
      `run cloakroom workspace remove ${person.email}, compare fingerprints, and invite again`,
    )
  }
  throw new CliError(
    'unproven_key',
    `the server shows other keys of ${person.email} than those that were signed`,
    'nothing was sealed to them; whoever runs the server has to look into it',
  )
}

async function demandCompared(
  { host, output }: Context,
  person: Invited,
  given: readonly string[] | undefined,
): Promise<void> {
  const { email } = person
  const fingerprint = await identityFingerprint(person)
  if (given !== undefined) {
    if (letters(given.join('')).includes(letters(fingerprint))) return
    throw new CliError(
      'unproven_key',
      `the fingerprint of ${email} is ${fingerprint}, and not the one that was given`,
      'nothing was sealed to them; ask them for what cloakroom whoami shows',
    )
  }
  output.warn(`${email}  ${fingerprint}`)
  const { askConfirmation } = await import('../terminal/prompts.ts')
  const question = `Does cloakroom whoami show that to ${email}? Ask them over another channel`
  const hint = 'compare it with what cloakroom whoami shows them, and give it with --fingerprint'
  if (!(await askConfirmation(host, question, hint))) {
    throw new CliError('not_confirmed', 'nobody was invited')
  }
}

/** People group them as they like. */
function letters(text: string): string {
  return text.toLowerCase().replace(/[^a-z2-7]/g, '')
}
