/** The menu that adds filters: for each kind, the known names, the most frequent first. */
import type { MenuChoice } from '../../parts/overlays/menu.tsx'
import { texts } from '../../texts/index.ts'
import { actionGroups, knownActions } from './actions.ts'
import { decisions, filterNamesOf, type useFilters } from './filters.ts'
import type { ListedRecord } from './groups.ts'
import type { ProjectNames } from './projects.ts'
import { type FilterName, filterNames } from './search.ts'
import type { useNames } from './summary.ts'
import { valueText } from './value_text.ts'

/** The search field finds the others. */
const MOST = 20
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

type Known = {
  names: ReturnType<typeof useNames>
  projects: ProjectNames
  records: readonly ListedRecord[]
}

export function filterChoices(
  { filters, toggle }: Pick<ReturnType<typeof useFilters>, 'filters' | 'toggle'>,
  known: Known,
): MenuChoice[] {
  return filterNames.flatMap((name) => {
    const values = valuesOf(name, known)
    if (values.length === 0) return []
    const chosen = filterNamesOf(filters, name)
    const choices = values.map((value) => ({
      id: value,
      label: valueText(name, value, known.projects),
      act: () => toggle(name, value),
      isSelected: chosen.includes(value),
    }))
    return [{ id: name, label: texts.audit.names[name], choices }]
  })
}

function valuesOf(name: FilterName, { names, projects, records }: Known): readonly string[] {
  switch (name) {
    case 'action':
      return [...Object.keys(actionGroups), ...knownActions]
    case 'decision':
      return decisions
    case 'method':
      return METHODS
    case 'project':
      return [...projects.keys()]
    case 'environment':
      return [...new Set(records.flatMap(({ environment }) => environment ?? []))].sort()
    default:
      return names?.[name].slice(0, MOST) ?? []
  }
}
