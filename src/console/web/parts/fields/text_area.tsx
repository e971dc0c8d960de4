/** Several lines of text; `isHidden` covers what is typed, as a password is. */
import { TextArea as AriaTextArea } from 'react-aria-components'
import { Labelled, type LabelledProps } from './labelled.tsx'

type Props = LabelledProps & { rows?: number; isHidden?: boolean }

export function TextArea({ rows = 3, isHidden = false, ...props }: Props) {
  return (
    <Labelled {...props}>
      <AriaTextArea
        className={isHidden ? 'input mono input-hidden' : 'input mono'}
        rows={rows}
        spellCheck="false"
        autoComplete="off"
        autoCapitalize="off"
      />
    </Labelled>
  )
}
