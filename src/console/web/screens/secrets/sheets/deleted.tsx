/** Secrets that were deleted from an environment and can be restored. */
import { Button } from '../../../parts/button.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { EmptyState } from '../../../parts/page/empty_state.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { SkeletonRows } from '../../../parts/page/skeleton.tsx'
import { Ago } from '../../../parts/show/ago.tsx'
import { useAsk, useCommand } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { CHANGED, type PaneProps, type SecretsPlace, useEnvironment, useMayHere } from '../place.ts'
import { EnvironmentSelect } from './environment_select.tsx'
import { Pane } from './pane.tsx'

const words = texts.secretSheets

export function Deleted({ place, matrix }: PaneProps) {
  const environment = useEnvironment(matrix)
  return (
    <Pane title={words.deletedTitle}>
      <EnvironmentSelect matrix={matrix} />
      <DeletedList place={{ ...place, environment }} />
    </Pane>
  )
}

function DeletedList({ place }: { place: SecretsPlace }) {
  const { data, error } = useAsk('versions.deleted', place)
  const writes = useMayHere('secret.write')
  const restore = useCommand('versions.restore', { changes: CHANGED })
  if (error) return <FailureNote error={error} />
  if (!data) return <SkeletonRows count={3} />
  if (data.length === 0) {
    return <EmptyState title={words.deletedNone} command="cloakroom secrets undelete" />
  }
  const act = (key: string) =>
    restore.mutate({ ...place, keys: [key] }, { onSuccess: () => say(words.restored(1)) })
  return (
    <>
      {restore.error ? <FailureNote error={restore.error} /> : null}
      <ul aria-label={words.deletedFrom(place.environment)}>
        {data.map(({ key, deletedAt }) => (
          <li key={key} className="flex min-h-11 items-center gap-3 border-b border-line">
            <span className="min-w-0 flex-1 truncate font-mono text-mono" title={key}>
              {key}
            </span>
            <span className="text-small text-ink-3">
              <Ago at={deletedAt} />
            </span>
            {writes ? (
              <Button
                size="small"
                aria-label={words.restoreNamed(key)}
                isPending={restore.isPending && restore.variables.keys.includes(key)}
                onPress={() => act(key)}
              >
                {words.restore}
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      <p className="text-small text-ink-2">{words.deletedHelp}</p>
    </>
  )
}
