/** Copies a text, such as a command or a fingerprint. */
import { Copy } from 'lucide-react'
import { useState } from 'react'
import { helpFor, texts } from '../../texts/index.ts'
import { Button } from '../button.tsx'
import { IconButton } from '../icon_button.tsx'

type Props = {
  text: string
  name: string
  isShown?: boolean
  isSecret?: boolean
  /** The text of a primary button, in place of the icon. */
  verb?: string
}

export function CopyButton({ text, name, isShown = true, isSecret = false, verb }: Props) {
  const [said, setSaid] = useState('')
  const words = texts.common
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid(isSecret ? words.copiedSecret : words.copied),
      () => setSaid(helpFor('not_copied').said ?? ''),
    )
  return (
    <span className="inline-flex max-w-full flex-wrap items-center gap-1">
      <span className="inline-flex max-w-full items-center gap-1">
        {isShown ? (
          <code className="min-w-0 rounded-tag bg-surface-2 px-1.5 py-0.5 wrap-anywhere">
            {text}
          </code>
        ) : null}
        {verb ? (
          <Button kind="primary" icon={Copy} onPress={copy}>
            {verb}
          </Button>
        ) : (
          <IconButton
            icon={Copy}
            label={words.copyNamed(name)}
            tip={words.copy}
            size="small"
            onPress={copy}
          />
        )}
      </span>
      <span role="status" className="text-small text-ink-2">
        {said}
      </span>
    </span>
  )
}
