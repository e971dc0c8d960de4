/** A text to take along, such as a command. */
import { useState } from 'react'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'

type Props = { text: string; name: string; isShown?: boolean }

export function Copy({ text, name, isShown = true }: Props) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <span className="copy">
      {isShown ? <code className="copy-text">{text}</code> : null}
      <Button kind="quiet" aria-label={texts.common.copyNamed(name)} onPress={copy}>
        {texts.common.copy}
      </Button>
      <span role="status" className="soft">
        {isCopied ? texts.common.copied : ''}
      </span>
    </span>
  )
}
