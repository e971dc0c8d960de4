/**
 * A form that is sent only with every required field filled in. Otherwise each empty one is marked, the first gets the
 * focus, and nothing is sent.
 */
import { createContext, type FormEvent, type ReactNode, useContext, useState } from 'react'
import { Form as AriaForm } from 'react-aria-components'

type Props = {
  className: string
  /** For a button outside of the form. */
  id?: string
  onSubmit(): void
  children: ReactNode
}

/** Whether someone tried to send the form around a field as it is. */
const Tried = createContext(false)

export function FieldForm({ className, id, onSubmit, children }: Props) {
  const [isTried, setTried] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const missing = event.currentTarget.querySelector(`[${MISSING}]`)
    setTried(missing !== null)
    if (missing) missing.querySelector<HTMLElement>('input, textarea, button')?.focus()
    else onSubmit()
  }
  return (
    <Tried value={isTried}>
      <AriaForm {...(id ? { id } : {})} className={className} onSubmit={submit}>
        {children}
      </AriaForm>
    </Tried>
  )
}

const MISSING = 'data-missing'

/** `mark` goes to the element around the field, so that the form finds it; `isMarked` shows the error. */
export function useRequired(isRequired: boolean, isEmpty: boolean) {
  const isTried = useContext(Tried)
  const isMissing = isRequired && isEmpty
  return { mark: isMissing ? { [MISSING]: '' } : {}, isMarked: isMissing && isTried }
}
