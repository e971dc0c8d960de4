/** An environment for a program, from a token (`tokens/token_source.ts`) or from the session (`session_source.ts`). */
import type { Asked, Holder, SeenDelivery } from '../../client/delivery/fallback.ts'
import {
  type Entry,
  heldEntry,
  type Resolved,
  resolveReferences,
} from '../../core/policy/references.ts'

/** The values by name as programs get them, with their references resolved. */
export type Delivered = Record<string, Resolved & { isOwn?: true | undefined }>

/** The source of a program's environment while it runs. */
export type Source = {
  /** @throws ApiError, CliError, UnresolvedReference, and the errors of an unavailable server */
  deliver(): Promise<Delivered>
  /** A version that changes with the environment, without its values; throws the same errors. */
  version(): Promise<string>
  holder: Holder
  asked: Asked
  /** For a token: the last verified state, and the oldest accepted one. */
  seen?: { last(): SeenDelivery | undefined; demand(seen: SeenDelivery): void }
}

/** The server gives the reasons in a token's delivery, because it omits the policies of omitted secrets. */
export function noteWithheld(note: (...texts: string[]) => void, opened: Opened): void {
  const { withheld = [], held = [], roots = [] } = opened
  const lines = [
    [withheld, 'because their policies do not list env', ''],
    [held, 'because each use needs an approval', HELD_HINT],
    [roots, 'because a server renews them', ROOT_HINT],
  ] as const
  const texts = lines.flatMap(([names, why, hint]) =>
    names.length === 0 ? [] : [`omitted, ${why}: ${[...names].sort().join(', ')}${hint}`],
  )
  if (texts.length > 0) note(...texts)
}

const HELD_HINT = '. Use `cloakroom call`, or the proxy with --remote.'
const ROOT_HINT = '. Run with a token, or call through `cloakroom call`.'

/** Credentials that could not be renewed are missing from the environment. */
export function warnUnavailable(
  warn: (text: string) => void,
  unavailable: Readonly<Record<string, string>>,
): void {
  const reasons = Object.entries(unavailable).map(([name, code]) => `${name} (${code})`)
  if (reasons.length > 0) warn(`omitted, because renewal failed: ${reasons.sort().join(', ')}`)
}

/** A repeated sentence is omitted. */
export function warnOnce(warn: (...texts: string[]) => void): (...texts: string[]) => void {
  let last = ''
  return (...texts) => {
    const all = texts.join('\n')
    if (all !== last) warn(...texts)
    last = all
  }
}

/** A stored environment, with the names for which the person has own values. */
export type Opened = {
  entries: ReadonlyMap<string, Entry>
  own: ReadonlySet<string>
  /** Names that their policies withhold. */
  withheld?: readonly string[] | undefined
  /** Names that need an approval for each use, whose values no program gets. */
  held?: readonly string[] | undefined
  /** Roots of credentials that only a server renews. */
  roots?: readonly string[] | undefined
}

export const NOTHING_OPENED: Opened = { entries: new Map(), own: new Set() }

/** As programs get them: all, or some. @throws UnresolvedReference */
export function resolveEntries(
  { entries, own, held = [] }: Pick<Opened, 'entries' | 'own' | 'held'>,
  names: Iterable<string> = entries.keys(),
): Delivered {
  const known = new Map([...held.map((name) => [name, heldEntry] as const), ...entries])
  const resolved = resolveReferences(known, names)
  return Object.fromEntries(
    [...resolved].map(([name, value]) => [name, own.has(name) ? { ...value, isOwn: true } : value]),
  )
}
