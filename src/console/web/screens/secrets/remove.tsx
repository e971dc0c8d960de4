/** Deleting, which names what is lost, and can be taken back as long as the notice is there, and for 7 days. */
import { Confirm } from '../../parts/confirm.tsx'
import { say } from '../../parts/toasts.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { CHANGED, type Project, useGo } from './place.ts'

const words = texts.secrets

type Props = { place: Project & { environment: string }; keys: readonly string[]; onDone?(): void }

export function Remove({ place, keys, onDone }: Props) {
  const go = useGo()
  const remove = useCommand('secrets.remove', { changes: CHANGED })
  const restore = useCommand('versions.restore', { changes: CHANGED })
  const { environment } = place
  const act = async () => {
    await remove.mutateAsync({ ...place, keys })
    const undo = () =>
      restore.mutate({ ...place, keys }, { onSuccess: () => say(words.restored(keys.length)) })
    say(words.removed(keys.length, environment), undo)
    onDone?.()
    go({ key: undefined })
  }
  return (
    <Confirm
      verb={words.remove}
      title={words.removeTitle(keys.length, environment)}
      onConfirm={act}
    >
      <p>{words.removeLoss(keys)}</p>
    </Confirm>
  )
}
