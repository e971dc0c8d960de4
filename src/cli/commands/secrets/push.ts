/** `cloakroom secrets push`: what is new or different in a file goes to the server. */
import { deleteSecret, listSecrets } from '../../../features/secrets/contract.ts'
import { isSamePolicy } from '../../../platform/crypto/secret_value.ts'
import type { pushOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import type { Context } from '../../context.ts'
import { readValuesOf, type Values } from '../../files/formats.ts'
import { asStored, marked } from '../../references.ts'
import { type ProjectScope, projectScope } from '../../scope.ts'
import type { Entry } from '../../sealing.ts'
import { type Candidate, choiceOf, classified } from '../../sensitivity.ts'
import { provenSecrets, reportStored, store } from '../../storing.ts'
import { confirmed } from '../../terminal/confirmed.ts'

/** Policies of what is there stay, but for what `sensitivity.ts` says. */
export const push: Action<typeof pushOptions> = async (context, [path = '.env'], options) => {
  const file = readValuesOf(path)
  const choice = choiceOf(options)
  const scope = await projectScope(context)
  const known = await provenSecrets(scope, Object.keys(file))
  const values = await asStored(scope, file, known)
  const candidates = Object.entries(values).map(([key, value]): Candidate => {
    const before = known.get(key)
    if (!before) return { key, value, policy: undefined, policyIs: 'new' }
    const policyIs = before.value === value ? 'decided' : 'stored'
    return { key, value, policy: before.policy ?? undefined, policyIs }
  })
  const { references } = options
  const sorted = classified(context, candidates, choice)
  const entries = await marked(context, scope, sorted, references, known)
  const compared = entries.map((entry) => ({
    entry,
    change: changeOf(entry, known),
  }))
  const gone = options.dryRun || options.prune ? await onlyStored(scope, values) : []
  if (options.dryRun) {
    showChanges(context, compared, { gone, prune: options.prune === true })
    return undefined
  }
  if (gone.length > 0) {
    const { project, environment } = scope
    await confirmed(options, `Delete ${gone.join(', ')} from ${project.name}/${environment}?`)
  }
  const changed = compared.flatMap(({ entry, change }) => (change === 'same' ? [] : entry))
  const counts = await store(context, scope, changed, options)
  for (const key of gone) await remove(scope, key)
  reportStored(context, scope, options.prune ? { ...counts, deleted: gone.length } : counts)
  return undefined
}

type Change = 'new' | 'value' | 'policy' | 'same'

function changeOf(
  { key, value, policy }: Entry,
  known: Awaited<ReturnType<typeof provenSecrets>>,
): Change {
  const before = known.get(key)
  if (!before) return 'new'
  if (before.value !== value) return 'value'
  return isSamePolicy(policy, before.policy) ? 'same' : 'policy'
}

/** Names of the environment that the file does not have. */
async function onlyStored({ session, project, environment }: ProjectScope, values: Values) {
  const params = { project_id: project.id }
  const listed = await session.api.list(listSecrets, { params, query: { environment } })
  return listed.map(({ key }) => key).filter((key) => !Object.hasOwn(values, key))
}

/** What a push would do, by name. */
function showChanges(
  { output }: Context,
  compared: readonly { entry: Entry; change: Change }[],
  { gone, prune }: { gone: readonly string[]; prune: boolean },
): void {
  const left = gone.map((key) => ({ key, change: prune ? 'deleted' : 'stays: not in the file' }))
  const rows = [...compared.map(({ entry: { key }, change }) => ({ key, change })), ...left]
  const keysOf = (...changes: Change[]) =>
    compared.flatMap(({ entry, change }) => (changes.includes(change) ? entry.key : []))
  output.table(rows, [{ field: 'key', whole: true }, 'change'], {
    added: keysOf('new'),
    changed: keysOf('value', 'policy'),
    same: keysOf('same'),
    removed: prune ? gone : [],
    not_in_file: prune ? [] : gone,
  })
}

function remove({ session, project, environment }: ProjectScope, key: string) {
  const params = { project_id: project.id, key }
  return session.api.call(deleteSecret, { params, query: { environment } })
}
