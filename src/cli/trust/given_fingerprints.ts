/**
 * Fingerprints that `--fingerprint` gives. Each one belongs to one person: with several people, a fingerprint without
 * an address could pass for anyone's.
 */
import { identityFingerprint } from '../../sigchain/index.ts'
import { CliError } from '../terminal/cli_error.ts'
import { explainRefusedKey, type KeysOfPerson } from './known_keys.ts'

type Given = { address: string | null; text: string }

const BOUND = /^(.+@.+)=([^=]*)$/
const FORM = '--fingerprint ADDRESS=FINGERPRINT'

/**
 * Compares each given fingerprint with the keys of the person it is given for.
 *
 * @param given `ADDRESS=FINGERPRINT`, or a fingerprint alone where there is only one person
 * @returns the lower-case addresses of those whose fingerprints were given
 * @throws CliError `usage` for a fingerprint that is not bound to a person, `unproven_key` for another person's
 */
export async function compareFingerprints(
  people: readonly KeysOfPerson[],
  given: readonly string[] | undefined,
): Promise<ReadonlySet<string>> {
  const compared = new Set<string>()
  for (const { address, text } of fingerprintsIn(given ?? [])) {
    const person = personFor(people, address)
    const email = person.email.toLowerCase()
    if (compared.has(email)) throw new CliError('usage', `${email} has two fingerprints`, USAGE)
    await demandEqual(person, text)
    compared.add(email)
  }
  return compared
}

const USAGE = `use ${FORM} once for each person`

function fingerprintsIn(given: readonly string[]): Given[] {
  return given.map((argument) => {
    const [, address, text = argument] = BOUND.exec(argument) ?? []
    return { address: address?.toLowerCase() ?? null, text }
  })
}

function personFor(people: readonly KeysOfPerson[], address: string | null): KeysOfPerson {
  const [only, another] = people
  if (address === null) {
    if (only && !another) return only
    throw new CliError('usage', 'A fingerprint without an address is for one person', USAGE)
  }
  const person = people.find(({ email }) => email.toLowerCase() === address)
  if (person) return person
  throw new CliError('usage', `${address} is not one of the invited people`, USAGE)
}

async function demandEqual(person: KeysOfPerson, text: string): Promise<void> {
  const { email } = person
  const fingerprint = await explainRefusedKey(email, () => identityFingerprint(person))
  if (toPlainText(text) === toPlainText(fingerprint)) return
  throw new CliError(
    'unproven_key',
    `the fingerprint of ${email} is ${fingerprint}, which differs from the given one`,
    'nothing was sealed to them; ask for the fingerprint that cloakroom whoami prints for them',
  )
}

/** People group the characters as they like. */
function toPlainText(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '')
}
