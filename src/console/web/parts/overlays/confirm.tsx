/** A button for what cannot be undone: it says what is lost, and where that is much, wants the name typed. */
import { type ReactNode, useState } from 'react'
import { texts } from '../../texts/index.ts'
import { Button } from '../button.tsx'
import { TextField } from '../fields/text_field.tsx'
import { FailureNote } from '../states/failure.tsx'
import { Dialog } from './dialog.tsx'

type Props = {
  /** What the button says, here and in the question. */
  verb: string
  title: string
  /** What is lost, named. */
  children: ReactNode
  /** To be typed before it can be done. */
  typed?: string
  onConfirm(): Promise<unknown>
}

export function ConfirmButton(props: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button kind="danger" onPress={() => setOpen(true)}>
        {props.verb}
      </Button>
      <ConfirmDialog {...props} isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
  )
}

type DialogProps = Props & { isOpen: boolean; onClose(): void }

/** The question alone, for a button of another kind. */
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
      <div className="actions">
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
      </div>
    </>
  )
}
