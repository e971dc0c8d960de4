/** Fills a template with the values of its environments, completely or not at all. */

import { findNearNames } from '../named.ts'
import { CliError, type CliErrorCode } from '../terminal/cli_error.ts'
import { type Delivered, NOTHING_OPENED, type Opened, resolveEntries } from '../values/delivered.ts'
import {
  type NamedPlace,
  type Passage,
  parseTemplate,
  positionIn,
  type Reference,
} from './parse.ts'

/** One environment, however it was written: the same object for the same one. */
export type Place = {
  /** As people read it, and as `--from` takes it. */
  title: string
  /** The reason for a missing value. */
  fault: string | null
  /** Whether it is the one of the command, or was named beside it. */
  isMeant: boolean
  open(): Promise<Opened>
}

/** `null` means the environment of the command. */
export type FindPlace = (named: NamedPlace | null) => Place

export type Filled = { text: string; used: { environment: string; names: string[] }[] }

type Located = Reference & { where: Place }

const MAX_LISTED = 20
/** Characters: a template may name one long value many times. */
const MAX_FILLED = 67_108_864

/** @throws CliError that lists all that keeps the template from being filled; ApiError */
export async function fillTemplate(
  template: string,
  open: () => Promise<FindPlace>,
): Promise<Filled> {
  const { parts, faults } = parseTemplate(template)
  const refuse = buildRefusal(template)
  refuse('invalid_file', faults, () => 'is not a reference', LITERAL)
  if (parts.every((part) => typeof part === 'string')) return { text: parts.join(''), used: [] }
  const find = await open()
  const located = parts.map((part) =>
    typeof part === 'string' ? part : { ...part, where: find(part.place) },
  )
  const references = located.filter((part) => typeof part !== 'string')
  refuse('not_found', references, ({ where }) => where.fault, 'see: cloakroom project list')
  refuse('reference_elsewhere', references, explainElsewhere, explainAllowed(references))
  const opened = await openAll(references)
  refuse(
    'not_found',
    references,
    (reference) => explainAbsent(reference, opened),
    'see: cloakroom secrets list',
  )
  const values = resolvedOf(references, opened)
  return { text: joinFilled(located, values), used: usedOf(references) }
}

const LITERAL = 'write literal text as {{ "…" }}, such as {{ "{{" }}'

/** One error for all passages that have something against them. */
function buildRefusal(template: string) {
  return <P extends Passage>(
    code: CliErrorCode,
    passages: readonly P[],
    against: (passage: P) => string | null,
    hint: string,
  ): void => {
    const wrong = passages.flatMap((passage) => {
      const why = against(passage)
      return why === null ? [] : [{ passage, why }]
    })
    if (wrong.length === 0) return
    const lines = wrong
      .slice(0, MAX_LISTED)
      .map(({ passage: { text, offset }, why }) => `${positionIn(template, offset)} ${text} ${why}`)
    const more = wrong.length > MAX_LISTED ? [`and ${wrong.length - MAX_LISTED} more`] : []
    throw new CliError(code, [...lines, ...more, 'nothing was written'], hint)
  }
}

function explainElsewhere({ where }: Located): string | null {
  return where.isMeant ? null : `is in ${where.title}, which this command does not read`
}

function explainAllowed(references: readonly Located[]): string {
  const titles = references.flatMap(({ where }) => (where.isMeant ? [] : [`--from ${where.title}`]))
  return `to allow it: ${[...new Set(titles)].join(' ')}`
}

/** Each environment once, at the same time. */
async function openAll(references: readonly Located[]): Promise<ReadonlyMap<Place, Opened>> {
  const places = [...new Set(references.map(({ where }) => where))]
  return new Map(
    await Promise.all(places.map(async (place) => [place, await place.open()] as const)),
  )
}

function explainAbsent(
  { name, where }: Located,
  opened: ReadonlyMap<Place, Opened>,
): string | null {
  const { entries, held = [] } = opened.get(where) ?? NOTHING_OPENED
  if (entries.has(name)) return null
  if (held.includes(name)) return 'needs an approval for each use, so it cannot be in a file'
  const near = findNearNames(name, [...entries.keys()])
  const meant = near.length > 0 ? `; is it ${near.join(', ')}?` : ''
  return `is not available to programs in ${where.title}${meant}`
}

type Values = ReadonlyMap<Place, Delivered>

/** Resolves only the names in the template, because other values may be broken. @throws UnresolvedReference */
function resolvedOf(references: readonly Located[], opened: ReadonlyMap<Place, Opened>): Values {
  const namesIn = (place: Place) =>
    references.flatMap(({ where, name }) => (where === place ? [name] : []))
  return new Map(
    [...opened].map(([place, environment]) => [place, resolveEntries(environment, namesIn(place))]),
  )
}

/** Values are inserted unchanged, and not scanned again. @throws CliError if the result is too long */
function joinFilled(parts: readonly (string | Located)[], values: Values): string {
  const texts: string[] = []
  let length = 0
  for (const part of parts) {
    const text =
      typeof part === 'string' ? part : (values.get(part.where)?.[part.name]?.value ?? '')
    length += text.length
    if (length > MAX_FILLED)
      throw new CliError('invalid_file', 'the filled template is too long; nothing was written')
    texts.push(text)
  }
  return texts.join('')
}

function usedOf(references: readonly Located[]): Filled['used'] {
  const places = [...new Set(references.map(({ where }) => where))]
  return places.map((place) => {
    const names = references.flatMap(({ where, name }) => (where === place ? [name] : []))
    return { environment: place.title, names: [...new Set(names)].sort() }
  })
}
