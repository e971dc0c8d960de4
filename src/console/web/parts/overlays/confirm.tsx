/** Confirms a change that can't be undone. It names the losses, and asks for the name of a large object. */
import { type ReactNode, useState } from 'react'
import { texts } from '../../texts/index.ts'
import { Button } from '../button.tsx'
import { TextField } from '../fields/text_field.tsx'
import { FailureNote } from '../page/failure.tsx'
import { Dialog, DialogFooter } from './dialog.tsx'

type Props = {
  /** The label of the button, here and in the dialog. */
  verb: string
  title: string
  /** Names the losses. */
  children: ReactNode
  /** Must be typed before the button works. */
  typed?: string
  onConfirm(): Promise<unknown>
}

export function ConfirmButton(props: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button kind="ghost" onPress={() => setOpen(true)}>
        {props.verb}
      </Button>
      <ConfirmDialog {...props} isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
  )
}

type DialogProps = Props & { isOpen: boolean; onClose(): void }

/** The dialog alone, for a menu or another button. */
export function ConfirmDialog({ verb, title, children, typed, onConfirm, ...shown }: DialogProps) {
  return (
    <Dialog title={title} {...shown} isAlert>
      <Question verb={verb} typed={typed} onConfirm={onConfirm} onClose={shown.onClose}>
        {children}
      </Question>
    </Dialog>
  )
}

type QuestionProps = Pick<Props, 'verb' | 'children' | 'onConfirm'> & {
  typed: string | undefined
  onClose(): void
}

function Question({ verb, typed, children, onConfirm, onClose }: QuestionProps) {
  const [text, setText] = useState('')
  const [error, setError] = useState<unknown>(null)
  const [isPending, setPending] = useState(false)
  const act = async () => {
    setPending(true)
    try {
      await onConfirm()
      onClose()
    } catch (failure) {
      setError(failure)
      setPending(false)
    }
  }
  return (
    <>
      {children}
      {typed === undefined ? null : (
        <TextField label={texts.common.typeToConfirm(typed)} value={text} onChange={setText} mono />
      )}
      {error ? <FailureNote error={error} /> : null}
      <DialogFooter>
        <Button autoFocus onPress={onClose}>
          {texts.common.cancel}
        </Button>
        <Button
          kind="danger"
          isDisabled={typed !== undefined && text !== typed}
          isPending={isPending}
          onPress={act}
        >
          {verb}
        </Button>
      </DialogFooter>
    </>
  )
}
