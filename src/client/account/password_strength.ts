/**
 * Whether a password or passphrase is hard to guess (protocol 3.1): anyone who has read the database or the file is
 * only stopped by the time that guessing takes. The lists of common words are loaded only here.
 */

const LEAST_CHARACTERS = 12
/** The required zxcvbn score from 0 to 4: more than 10^8 guesses. */
const LEAST_SCORE = 3

export type Weakness = { why: string; advice: string }

/** Null for a strong one. `known` has public data of the person, such as the address. */
export async function weaknessOf(
  password: string,
  known: readonly string[] = [],
): Promise<Weakness | null> {
  const isShort = [...password].length < LEAST_CHARACTERS
  if (isShort)
    return {
      why: `it must have at least ${LEAST_CHARACTERS} characters`,
      advice: 'use four or more unrelated words',
    }
  strength ??= openStrength()
  const zxcvbn = await strength
  const { score, feedback } = zxcvbn.check(password, [...known])
  if (score >= LEAST_SCORE) return null
  const why = feedback.warning ?? 'it is too easy to guess.'
  return { why, advice: feedback.suggestions.join(' ') }
}

/** Loads the dictionaries once per process, which takes longer than checking a password. */
let strength: ReturnType<typeof openStrength> | undefined

async function openStrength() {
  const [{ ZxcvbnFactory }, common, english] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
  ])
  const { warnings: usual } = english.translations
  const warnings = { ...usual, userInputs: 'It is based on your email address.' }
  return new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...english.dictionary },
    graphs: common.adjacencyGraphs,
    translations: { ...english.translations, warnings },
  })
}

/** For a page; a command prints its advice on a separate line. */
export function formatWeakness({ why, advice }: Weakness): string {
  const texts = [why, advice].filter((text) => text !== '')
  return texts
    .map((text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.?$/, '.'))
    .join(' ')
}
