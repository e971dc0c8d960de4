/** What was deleted from an environment and can be restored. */
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { CHANGED, daysSince, type PaneProps, useGo, useMayHere } from './place.ts'

const words = texts.secrets

export function Deleted({ place, matrix, environment }: PaneProps & { environment: string }) {
  const go = useGo()
  const at = { ...place, environment }
  return (
    <div className="stack">
      <Select
        label={words.environment}
        options={matrix.environments.map((id) => ({ id, label: id }))}
        value={environment}
        onChange={(chosen) => go({ environment: chosen }, true)}
      />
      <DeletedList place={at} />
    </div>
  )
}

function DeletedList({ place }: { place: PaneProps['place'] & { environment: string } }) {
  const { data, error } = useAsk('versions.deleted', place)
  const writes = useMayHere('secret.write')
  const restore = useCommand('versions.restore', { changes: CHANGED })
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  if (data.length === 0) {
    return (
      <EmptyState title={words.deletedNone} command="cloakroom secrets undelete">
        <p>{words.deletedNoneHelp}</p>
      </EmptyState>
    )
  }
  const act = (key: string) =>
    restore.mutate({ ...place, keys: [key] }, { onSuccess: () => say(words.restored(1)) })
  return (
    <>
      {restore.error ? <FailureNote error={restore.error} /> : null}
      <ul className="plain-list stack">
        {data.map(({ key, version, deletedAt }) => (
          <li key={key} className="row">
            <code>{key}</code>
            <span className="soft">
              {words.inShort(
                version,
                daysSince(deletedAt) === 0 ? words.today : words.days(daysSince(deletedAt)),
              )}
            </span>
            {writes ? (
              <Button
                aria-label={words.restoreNamed(key)}
                isPending={restore.isPending}
                onPress={() => act(key)}
              >
                {words.restore}
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
    </>
  )
}
