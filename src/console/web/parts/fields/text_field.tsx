/** One line of text. */
import { Input } from 'react-aria-components'
import { INPUT } from './field_class.ts'
import { Labelled, type LabelledProps } from './labelled.tsx'

export function TextField({ mono = false, ...props }: LabelledProps & { mono?: boolean }) {
  return (
    <Labelled {...props}>
      <Input className={mono ? `${INPUT} font-mono text-mono` : INPUT} />
    </Labelled>
  )
}
