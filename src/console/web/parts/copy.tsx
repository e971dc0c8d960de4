/** A text to take along, such as a command. */
import { useState } from 'react'
import { helpFor, texts } from '../texts/index.ts'
import { Button } from './button.tsx'

type Props = {
  text: string
  name: string
  isShown?: boolean
  isSecret?: boolean
}

export function CopyButton({ text, name, isShown = true, isSecret = false }: Props) {
  const [said, setSaid] = useState('')
  const words = texts.common
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid(isSecret ? words.copiedSecret : words.copied),
      () => setSaid(helpFor('not_copied').said ?? ''),
    )
  return (
    <span className="copy">
      {isShown ? <code className="copy-text">{text}</code> : null}
      <Button kind="quiet" aria-label={words.copyNamed(name)} onPress={copy}>
        {words.copy}
      </Button>
      <span role="status" className="soft">
        {said}
      </span>
    </span>
  )
}
