/** `cloakroom secrets push`: uploads new and changed values from a file. */

import { changedOf, compareEntries } from '../../../client/actions/stored_secrets.ts'
import { readSecrets } from '../../../client/environment.ts'
import { candidatesOf } from '../../../client/secrets/final_policy.ts'
import { command } from '../../command.ts'
import { dialectOf } from '../../files/dialects/index.ts'
import { readValuesOf, type Values } from '../../files/formats.ts'
import {
  dialect,
  dryRun,
  references,
  sensitivityOptions,
  storedEmpty,
  storedUnsafe,
  yes,
} from '../../options.ts'
import { withDefaults } from '../../policies/defaults.ts'
import { environmentOf, type ProjectScope, projectScope } from '../../scope.ts'
import { requireConfirmation } from '../../terminal/confirmed.ts'
import { showChanges } from '../../values/changes.ts'
import { asStored, markReferences } from '../../values/references.ts'
import { choiceOf, classifyEntries } from '../../values/sensitivity.ts'
import {
  deleteSecrets,
  readProvenSecrets,
  reportStored,
  store,
  undeleteOf,
} from '../../values/storing.ts'
import { confirmUnusual } from '../../values/unusual.ts'

/** Existing policies are kept, except for `sensitivity.ts`. */
export default command({
  usage: 'push [path]',
  examples: ['secrets push', 'secrets push secrets.yaml --dry-run', 'secrets push --prune'],
  options: [
    dryRun,
    dialect,
    ['--prune', 'delete secrets that are not in the file; asks first'],
    references,
    ...sensitivityOptions,
    storedEmpty,
    storedUnsafe,
    yes,
  ],
  action: async (context, [path = '.env'], options) => {
    const file = readValuesOf(context.host, path, {
      note: context.output.warn,
      dialect: dialectOf(options),
    })
    const choice = choiceOf(options)
    const scope = await projectScope(context)
    const known = await readProvenSecrets(scope, Object.keys(file))
    const values = await asStored(scope, file, known)
    const candidates = candidatesOf(Object.entries(values), known)
    const { references, dryRun } = options
    const yes = options.yes || dryRun
    const sorted = withDefaults(context, classifyEntries(context, candidates, choice))
    const entries = await markReferences(context, scope, sorted, { references, yes, known })
    const compared = compareEntries(known, entries)
    const gone = options.dryRun || options.prune ? await listOnlyStored(scope, values) : []
    if (options.dryRun) {
      const left = options.prune ? 'deleted' : 'kept: not in the file'
      showChanges(
        context,
        compared,
        gone.map((key) => ({ key, change: left })),
        options.prune ? { removed: gone, not_in_file: [] } : { removed: [], not_in_file: gone },
      )
      return
    }
    const changed = changedOf(compared)
    await confirmUnusual(context, changed, options)
    if (gone.length > 0) {
      const { project, environment } = scope
      await requireConfirmation(
        context.host,
        options,
        `Delete ${gone.join(', ')} from ${project.name}/${environment}?`,
      )
    }
    const counts = await store(context, scope, changed, options)
    await deleteSecrets(scope, gone)
    const done = options.prune ? { ...counts, deleted: gone.length } : counts
    const undelete = gone.length > 0 ? undeleteOf(gone, scope.environment) : undefined
    reportStored(context, scope, done, undelete)
  },
})

/** Names of the environment that the file does not have. */
async function listOnlyStored(scope: ProjectScope, values: Values) {
  const listed = await readSecrets(environmentOf(scope))
  return listed.map(({ key }) => key).filter((key) => !Object.hasOwn(values, key))
}
