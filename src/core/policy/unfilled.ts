/** Placeholders that went out as text (protocol 6.3): in words, and as the header of an answer. */
import { PLACEHOLDER_PREFIX } from '../names/secret_name.ts'

export const unfilledPlaces = ['query', 'path', 'json', 'form', 'body'] as const
/** `isEscaped` and `allowed` exist only while a call is decided: they are neither recorded nor sent. */
export type Unfilled = {
  name: string
  place: (typeof unfilledPlaces)[number]
  isEscaped?: boolean
  /** Places that the policy of the secret allows now. */
  allowed?: readonly string[]
}

/** Pairs of name and place in one record of the audit. */
export const MAX_UNFILLED = 16

export const STRICT_HEADER = 'x-service-strict-placeholders'
export const UNFILLED_HEADER = 'x-service-unfilled'

/** Returns the cause, the reason, and the command to run. */
export function describeUnfilled(unfilled: Unfilled): string {
  const { name, place, isEscaped = false, allowed } = unfilled
  const [where, why] = WORDS[place]
  const what = `${PLACEHOLDER_PREFIX}${name} in the ${where} is not replaced:`
  if (isEscaped) return `${what} it is escaped. Write it without escapes.`
  if (place === 'body') return `${what} ${why} Use a header, JSON or a form.`
  if (allowed?.includes(place))
    return `${what} its policy lists ${place}, so it is escaped, or the ${where} cannot be read.`
  const command = buildUnfilledCommand(unfilled)
  return command
    ? `${what} ${why} Run \`cloakroom ${command.join(' ')}\`.`
    : `${what} ${why} Add ${place} to the locations that \`cloakroom policy show ${name}\` lists.`
}

/**
 * Returns the command that adds the place to the policy's list, without the program's name; undefined if it is unknown,
 * or if no policy can allow the place.
 */
export function buildUnfilledCommand({
  name,
  place,
  isEscaped = false,
  allowed,
}: Unfilled): readonly string[] | undefined {
  if (place === 'body' || isEscaped || !allowed || allowed.includes(place)) return undefined
  return ['policy', 'set', name, '--locations', [...allowed, place].join(',')]
}

const WORDS: Record<Unfilled['place'], readonly [where: string, why: string]> = {
  query: ['query', "its secret's policy does not list query, or it is escaped."],
  path: ['path', "its secret's policy does not list path, or it is escaped."],
  json: [
    'JSON body',
    "its secret's policy does not list json, it is escaped, or the body is not JSON.",
  ],
  form: ['form', "its secret's policy does not list form, or it is escaped."],
  body: ['body', 'a body of this type takes no secrets.'],
}

/** `NAME;place, …` */
export function listUnfilled(unfilled: readonly Unfilled[]): string {
  return unfilled.map(({ name, place }) => `${name};${place}`).join(', ')
}

export function buildUnfilledHeader(unfilled: readonly Unfilled[]): Record<string, string> {
  if (unfilled.length === 0) return {}
  return { [UNFILLED_HEADER]: listUnfilled(unfilled) }
}

/** Reads the header of an answer by Cloakroom. */
export function readUnfilled(header: string | null): Unfilled[] {
  return (header ?? '').split(', ').flatMap((text) => {
    const [name = '', place = ''] = text.split(';')
    return Object.hasOwn(WORDS, place) ? [{ name, place: place as Unfilled['place'] }] : []
  })
}
