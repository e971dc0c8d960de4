/** Values of filters as people read them. */
import { texts } from '../../texts/index.ts'
import { actionText } from './actions.ts'
import { isDecision } from './filters.ts'
import type { ProjectNames } from './projects.ts'
import type { FilterName } from './search.ts'

export function valueText(name: FilterName, value: string, projects: ProjectNames): string {
  if (name === 'project') return projects.get(value) ?? texts.audit.otherProject
  if (name === 'decision' && isDecision(value)) return texts.audit.decisions[value]
  const names = value.split(',')
  return (name === 'action' ? [...new Set(names.map((each) => actionText(each)))] : names).join(
    ', ',
  )
}
