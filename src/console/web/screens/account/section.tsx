/** A part of the account that changes only when somebody opens it and gives the password. */
import { type ReactNode, useId, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { texts } from '../../texts/index.ts'

type SectionProps = { title: string; what: string; children: ReactNode }

export function Section({ title, what, children }: SectionProps) {
  const id = useId()
  return (
    <section className="stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p className="soft">{what}</p>
      {children}
    </section>
  )
}

type Props = {
  /** What opens the form. */
  open: string
  verb: string
  isDanger?: boolean
  /** With the current password; what it throws is shown. */
  onSubmit(current: string): Promise<unknown>
  children?: ReactNode
}

export function WithPassword({ open, verb, isDanger = false, onSubmit, children }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [current, setCurrent] = useState('')
  const [error, setError] = useState<unknown>(null)
  const [isPending, setPending] = useState(false)
  const close = () => {
    setCurrent('')
    setError(null)
    setOpen(false)
  }
  const submit = async () => {
    setPending(true)
    setError(null)
    try {
      await onSubmit(current)
      close()
    } catch (failure) {
      setError(failure)
    } finally {
      setPending(false)
    }
  }
  if (!isOpen) {
    return (
      <div>
        <Button onPress={() => setOpen(true)}>{open}</Button>
      </div>
    )
  }
  return (
    <FieldForm className="stack form" onSubmit={submit}>
      <TextField
        label={texts.account.current}
        type="password"
        autoComplete="current-password"
        isRequired
        autoFocus
        value={current}
        onChange={setCurrent}
      />
      {children}
      <div className="row">
        <Button kind={isDanger ? 'danger' : 'primary'} type="submit" isPending={isPending}>
          {verb}
        </Button>
        <Button kind="ghost" onPress={close}>
          {texts.common.cancel}
        </Button>
      </div>
      {error ? <FailureNote error={error} /> : null}
    </FieldForm>
  )
}
