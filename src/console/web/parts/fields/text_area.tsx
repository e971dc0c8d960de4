/** Several lines of text. `isHidden` masks them like a password. */
import { TextArea as AriaTextArea } from 'react-aria-components'
import { BOX } from './field_class.ts'
import { Labelled, type LabelledProps } from './labelled.tsx'

type Props = LabelledProps & { rows?: number; isHidden?: boolean }

export function TextArea({ rows = 3, isHidden = false, ...props }: Props) {
  const masked = isHidden ? '[-webkit-text-security:disc]' : ''
  return (
    <Labelled {...props}>
      <AriaTextArea
        className={`${BOX} w-full resize-y px-2.5 py-1.5 font-mono text-mono ${masked}`}
        rows={rows}
        spellCheck="false"
        autoComplete="off"
        autoCapitalize="off"
      />
    </Labelled>
  )
}
