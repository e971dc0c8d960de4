/** Suggestions of the search field: known agents, hosts, secrets and actions, and the typed text. */
import type { Suggestion } from '../../parts/fields/suggest_field.tsx'
import { texts } from '../../texts/index.ts'
import { actionGroups, actionText, knownActions } from './actions.ts'

const words = texts.audit

type Names = Record<'actor' | 'domain' | 'credential', readonly string[]>
type Kind = keyof Names | 'action'

/** The most suggestions of each kind. */
const MOST = 5

const HOST = /^[\w*-]+(\.[\w-]+)+(:\d+)?$/
const SECRET = /^[A-Za-z_]\w*$/

export function suggestionsFor(typed: string, names: Names | undefined): Suggestion[] {
  const text = typed.trim()
  if (text === '') return []
  const known = names
    ? [
        ...listMatchingSuggestions('actor', names.actor, text),
        ...listMatchingSuggestions('domain', names.domain, text),
        ...listMatchingSuggestions('credential', names.credential, text),
      ]
    : []
  const actions = [...Object.keys(actionGroups), ...knownActions]
  const texts = actions.map((action) => ({ action, label: actionText(action) }))
  const found = [...new Map(texts.map((each) => [each.label, each])).values()]
    .filter(({ label }) => includes(label, text))
    .slice(0, MOST)
    .map(({ action, label }) => suggestion('action', action, label))
  const listed = [...known, ...found]
  return [...listed, ...ownOf(text).filter(({ id }) => !listed.some((other) => other.id === id))]
}

/** The typed text, as a name of each kind that it fits. */
function ownOf(text: string): Suggestion[] {
  return [
    ...(HOST.test(text) ? [suggestion('domain', text.toLowerCase())] : []),
    ...(SECRET.test(text) ? [suggestion('credential', text)] : []),
    suggestion('actor', text),
  ]
}

function listMatchingSuggestions(
  kind: keyof Names,
  names: readonly string[],
  text: string,
): Suggestion[] {
  const found: Suggestion[] = []
  for (const name of names) {
    if (found.length === MOST) break
    if (includes(name, text)) found.push(suggestion(kind, name))
  }
  return found
}

const includes = (name: string, text: string) => name.toLowerCase().includes(text.toLowerCase())

function suggestion(kind: Kind, value: string, label = value): Suggestion {
  return { id: `${kind}:${value}`, label, kind: words.names[kind] }
}

/** The filter of a suggestion. */
export function chosenOf(id: string): { name: Kind; value: string } {
  const at = id.indexOf(':')
  return { name: id.slice(0, at) as Kind, value: id.slice(at + 1) }
}
