/** Finds an item by ID or name, or throws an error that lists similar names. */
import { CliError } from './terminal/cli_error.ts'

/** Letters that a mistyped name may differ in. */
const MAX_EDITS = 2
/** Names that fit a line. */
const MAX_NAMES = 5

export type Kind = {
  /** `agent`, `project`. */
  what: string
  /** The searched place: `in acme`. */
  where?: string | undefined
  /** The command that lists them. */
  list: string
  /** How to go on with a name that is not there, as an imperative: `add --yes to …`. */
  otherwise?: string | undefined
}

type Named = { id: string; name: string }

/** @throws CliError without an item of that name or ID, or with several */
export function requireItem<T extends Named>(all: readonly T[], typed: string, kind: Kind): T {
  const byId = all.find(({ id }) => id === typed)
  if (byId) return byId
  const [found, ...others] = all.filter(({ name }) => name === typed)
  if (!found)
    throw buildNotFoundError(
      typed,
      all.map(({ name }) => name),
      kind,
    )
  if (others.length === 0) return found
  const ids = [found, ...others].map(({ id }) => id)
  throw new CliError(
    'ambiguous_name',
    `several items are named ${typed}`,
    `give the ID, one of ${ids.slice(0, MAX_NAMES).join(', ')}`,
  )
}

/** The error for a name that is not there, with near ones, or the command that lists all. */
export function buildNotFoundError(typed: string, known: readonly string[], kind: Kind): CliError {
  const { what, where, list, otherwise } = kind
  const place = where === undefined ? '' : ` ${where}`
  const near = findNearNames(typed, known)
  const hint = near.length > 0 ? `is it ${near.join(', ')}?` : `list them with: cloakroom ${list}`
  return new CliError(
    'not_found',
    `there is no ${what} ${typed}${place}`,
    otherwise === undefined ? hint : joinHints(hint, otherwise),
  )
}

/** One line of two hints. */
export function joinHints(hint: string, otherwise: string): string {
  return `${hint.replace(/[^?]$/, '$&;')} ${otherwise}`
}

/** Similar names, unique. */
export function findNearNames(typed: string, known: readonly string[]): string[] {
  const near = [...new Set(known)].filter((name) => isNear(name, typed))
  return near.slice(0, MAX_NAMES)
}

function isNear(name: string, typed: string): boolean {
  const [one, other] = [name.toUpperCase(), typed.toUpperCase()]
  if (other === '') return false
  if (one.includes(other) || (one.length > MAX_EDITS && other.includes(one))) return true
  return editsBetween(one, other) <= Math.min(MAX_EDITS, Math.floor(other.length / 2))
}

/** Insertions, deletions and replacements that make one of the other (Levenshtein). */
function editsBetween(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...one].entries()) {
    const line = [row + 1]
    for (const [column, against] of [...other].entries()) {
      const replaced = (above[column] ?? 0) + (letter === against ? 0 : 1)
      line.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1))
    }
    above = line
  }
  return above[other.length] ?? 0
}
