/** A button; while what it began is under way it says so, and cannot be pressed again. */
import { Button as AriaButton, type ButtonProps } from 'react-aria-components'

type Props = Omit<ButtonProps, 'className' | 'style'> & {
  /** `primary` is the one thing that a screen is for; `danger` destroys something. */
  kind?: 'primary' | 'usual' | 'quiet' | 'danger'
}

export function Button({ kind = 'usual', ...props }: Props) {
  return <AriaButton className={`button button-${kind}`} {...props} />
}
