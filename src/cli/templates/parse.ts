/**
 * The references in a template, read in one pass: `{{ NAME }}`, `{{ svc://project/environment/NAME }}`, the latter
 * without braces too, and `{{ "text" }}` for text that would be one of these. Invalid references are faults: an
 * incomplete config file does more harm than none.
 */
import { SECRET_NAME } from '../../core/names/secret_name.ts'

/** A project by name or id, and one of its environments. */
export type NamedPlace = { project: string; environment: string }

/** The shown part of a template with an error, and its position. */
export type Passage = { text: string; offset: number }

export type Reference = Passage & {
  name: string
  /** `null` for the environment that the command works with. */
  place: NamedPlace | null
}

export type Template = {
  parts: readonly (string | Reference)[]
  /** Text that looks like a reference but is invalid. */
  faults: readonly Passage[]
}

/** Characters between braces: an unclosed one must not make each of many read to the end. */
const MAX_TAG = 512
const SHOWN = 60

const PLACE = `svc://(?<project>[A-Za-z0-9_-]{1,64})/(?<environment>[A-Za-z0-9_-]{1,32})`
const PATH = `${PLACE}/(?<name>${SECRET_NAME})(?![A-Za-z0-9_])`
const NOT_BEFORE = String.raw`(?<![A-Za-z0-9+\\.-])`
const TOKENS = new RegExp(
  [
    String.raw`\{\{[ \t]*"(?<literal>(?:[^"\\\n]|\\["\\]){0,${MAX_TAG}})"[ \t]*\}\}`,
    String.raw`\{\{(?<tag>[^\n]{0,${MAX_TAG}}?)\}\}`,
    `${NOT_BEFORE}${PATH}`,
    String.raw`\{\{|${NOT_BEFORE}svc://`,
  ].join('|'),
  'g',
)
/** The dot is that of Go's templates. */
const TAGS = [new RegExp(`^\\.?(?<name>${SECRET_NAME})$`), new RegExp(`^${PATH}$`)]

export function parseTemplate(text: string): Template {
  const parts: (string | Reference)[] = []
  const faults: Passage[] = []
  let end = 0
  for (const { 0: found, index: offset, groups = {} } of text.matchAll(TOKENS)) {
    parts.push(text.slice(end, offset))
    end = offset + found.length
    const named = groups.tag === undefined ? groups : readTag(groups.tag)
    const passage = { text: showUnclosed(found, text.slice(end, end + SHOWN)), offset }
    if (named.literal !== undefined) parts.push(named.literal.replace(/\\(["\\])/g, '$1'))
    else if (named.name === undefined) faults.push(passage)
    else parts.push({ ...passage, name: named.name, place: placeOf(named) })
  }
  parts.push(text.slice(end))
  return { parts, faults }
}

type Groups = Partial<Record<string, string>>

function readTag(tag: string): Groups {
  const text = tag.trim()
  return TAGS.map((form) => form.exec(text)?.groups).find((groups) => groups) ?? {}
}

function placeOf({ project, environment }: Groups): NamedPlace | null {
  return project && environment ? { project, environment } : null
}

/** An unclosed tag with the rest of its line. */
function showUnclosed(found: string, rest: string): string {
  const isOpen = found === '{{' || found === 'svc://'
  const [line = ''] = isOpen ? `${found}${rest}`.split('\n') : [found]
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line
}

/** `line:column`, both from 1, in characters. */
export function positionIn(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n')
  return `${lines.length}:${[...(lines.at(-1) ?? '')].length + 1}`
}
