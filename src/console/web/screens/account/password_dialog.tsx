/** Asks for the password before a change to the account. Every such change uses this dialog. */
import { type ReactNode, useState } from 'react'
import { failureIn } from '../../availability.ts'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { Dialog, DialogFooter } from '../../parts/overlays/dialog.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { texts } from '../../texts/index.ts'

type FormProps = {
  verb: string
  isDanger?: boolean
  /** The effects of the change. */
  note?: ReactNode
  onClose(): void
  /** Errors are shown in the dialog. */
  onSubmit(current: string): Promise<unknown>
  /** False if one of the `children` shows an error. */
  maySubmit?(): boolean
  children?: ReactNode
}

type Props = FormProps & { title: string; isOpen: boolean }

export function PasswordDialog({ title, isOpen, ...form }: Props) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={form.onClose} isAlert>
      <PasswordForm {...form} />
    </Dialog>
  )
}

function PasswordForm({ verb, isDanger = false, note, onClose, children, ...given }: FormProps) {
  const [current, setCurrent] = useState('')
  const { error, isPending, submit } = useSubmission(given, onClose)
  const isWrong = isWrongPassword(error)
  return (
    <FieldForm className="flex flex-col gap-4" onSubmit={() => submit(current)}>
      {note}
      <TextField
        label={texts.account.current}
        type="password"
        autoComplete="current-password"
        isRequired
        autoFocus
        value={current}
        onChange={setCurrent}
        error={isWrong ? texts.account.wrongPassword : undefined}
      />
      {children}
      {error && !isWrong ? <FailureNote error={error} /> : null}
      <DialogFooter>
        <Button onPress={onClose}>{texts.common.cancel}</Button>
        <Button kind={isDanger ? 'danger' : 'primary'} type="submit" isPending={isPending}>
          {verb}
        </Button>
      </DialogFooter>
    </FieldForm>
  )
}

function useSubmission(
  { onSubmit, maySubmit = () => true }: Pick<FormProps, 'onSubmit' | 'maySubmit'>,
  onDone: () => void,
) {
  const [error, setError] = useState<unknown>(null)
  const [isPending, setPending] = useState(false)
  const submit = async (current: string) => {
    setError(null)
    if (!maySubmit()) return
    setPending(true)
    try {
      await onSubmit(current)
      onDone()
    } catch (failure) {
      setError(failure)
    } finally {
      setPending(false)
    }
  }
  return { error, isPending, submit }
}

function isWrongPassword(error: unknown): boolean {
  return failureIn(error)?.fields.some(({ path }) => path === 'current_password') ?? false
}
