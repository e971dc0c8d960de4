/**
 * A form that is sent only with every required field filled in. Otherwise each empty one is marked, the first gets the
 * focus, and nothing is sent. A field that the server rejects gets the focus too, so that screen readers read its error.
 */
import {
  createContext,
  type FormEvent,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react'
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
/** Whether the form around a field was sent, until a rejected field took the focus. */
const Sent = createContext<RefObject<boolean> | null>(null)

export function FieldForm({ className, id, onSubmit, children }: Props) {
  const [isTried, setTried] = useState(false)
  const sent = useRef(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const missing = event.currentTarget.querySelector(`[${MISSING}]`)
    setTried(missing !== null)
    if (missing) missing.querySelector<HTMLElement>('input, textarea, button')?.focus()
    else {
      sent.current = true
      onSubmit()
    }
  }
  return (
    <Tried value={isTried}>
      <Sent value={sent}>
        <AriaForm {...(id ? { id } : {})} className={className} onSubmit={submit}>
          {children}
        </AriaForm>
      </Sent>
    </Tried>
  )
}

/** Moves the focus to a field when its error is the answer to the form. The ref goes to the element around the field. */
export function useRejectedFocus(error: string | undefined): RefObject<HTMLDivElement | null> {
  const sent = useContext(Sent)
  const field = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (error === undefined || !sent?.current) return
    sent.current = false
    field.current?.querySelector<HTMLElement>('input, textarea')?.focus()
  }, [error, sent])
  return field
}

const MISSING = 'data-missing'

/** `mark` goes to the element around the field, so that the form finds it; `isMarked` shows the error. */
export function useRequired(isRequired: boolean, isEmpty: boolean) {
  const isTried = useContext(Tried)
  const isMissing = isRequired && isEmpty
  return { mark: isMissing ? { [MISSING]: '' } : {}, isMarked: isMissing && isTried }
}
