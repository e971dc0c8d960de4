/** Deleting, which names what is lost, and can be taken back as long as the notice is there, and for 7 days. */
import { AskError } from '../../keys/ask.ts'
import { ConfirmButton } from '../../parts/overlays/confirm.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
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
    const { removed, failure } = await remove.mutateAsync({ ...place, keys })
    const count = removed.length
    const undo = () =>
      restore.mutate(
        { ...place, keys: removed },
        { onSuccess: () => say(words.restored(count)), onError: () => say(words.notRestored) },
      )
    if (count > 0) say(words.removed(count, environment), undo)
    if (failure) throw new AskError(failure)
    onDone?.()
    go({ key: undefined })
  }
  return (
    <ConfirmButton
      verb={words.remove}
      title={words.removeTitle(keys.length, environment)}
      onConfirm={act}
    >
      <p>{words.removeLoss(keys)}</p>
    </ConfirmButton>
  )
}
