/** Deletes secrets from an environment. It can be undone while the toast is shown, and for 7 days from the list. */
import { type ReactNode, useState } from 'react'
import { AskError } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/overlays/confirm.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { CHANGED, type SecretsPlace, useGo } from './place.ts'

const words = texts.secretSheets

type Props = { place: SecretsPlace; keys: readonly string[]; onDone?(): void }

/** A button that names the environment. Only its dialog is red. */
export function Remove(props: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button kind="ghost" onPress={() => setOpen(true)}>
        {words.removeFrom(props.place.environment)}
      </Button>
      <RemoveDialog {...props} isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
  )
}

type DialogProps = Props & { isOpen: boolean; onClose(): void; children?: ReactNode }

export function RemoveDialog({ place, keys, onDone, isOpen, onClose, children }: DialogProps) {
  const go = useGo()
  const remove = useCommand('secrets.remove', { changes: CHANGED })
  const restore = useCommand('versions.restore', { changes: CHANGED })
  const { environment } = place
  const act = async () => {
    const { removed, failure } = await remove.mutateAsync({ ...place, keys })
    const count = removed.length
    const undo = {
      act: async () => {
        await restore.mutateAsync({ ...place, keys: removed })
        return words.restored(count)
      },
      failed: words.notRestored,
    }
    if (count > 0) say(words.removed(count, environment), undo)
    if (failure) throw new AskError(failure)
    onDone?.()
    go({ key: undefined })
  }
  return (
    <ConfirmDialog
      verb={words.removeVerb(keys.length)}
      title={words.removeTitle(keys, environment)}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={act}
    >
      {children}
      <p>{keys.length === 0 ? words.removeNone(environment) : words.removeLoss(keys)}</p>
    </ConfirmDialog>
  )
}
