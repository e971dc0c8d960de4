/** Every picture of the review set. */
import type { Entry } from '../entry.ts'
import { entrances } from './entrances.ts'
import { everywhere } from './everywhere.ts'
import { firstRun } from './first_run.ts'
import { secretScreens } from './secrets.ts'
import { workspaceScreens } from './workspace.ts'

export const allEntries: readonly Entry[] = [
  ...entrances,
  ...firstRun,
  ...secretScreens,
  ...workspaceScreens,
  ...everywhere,
]
