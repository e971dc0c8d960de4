/** The buttons of a decision: sign, and ignore until it happens again. */
import { Shield } from 'lucide-react'
import { useEffect } from 'react'
import { Button } from '../../parts/button.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { texts } from '../../texts/index.ts'
import { ignore, type WaitingItem } from '../../waiting.ts'

const words = texts.waiting

type Props = { label?: string; isPending: boolean; onSign(): void }

/** Ctrl+Enter or ⌘+Enter does the same. */
export function SignButton({ label = words.sign, isPending, onSign }: Props) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat) return
      event.preventDefault()
      if (!isPending) onSign()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isPending, onSign])
  return (
    <span className="min-w-0 flex-1">
      <Button
        kind="primary"
        icon={Shield}
        isFull
        shortcut={words.signKeys}
        aria-keyshortcuts="Control+Enter Meta+Enter"
        isPending={isPending}
        onPress={onSign}
      >
        {label}
      </Button>
    </span>
  )
}

export function ignoreItem(item: WaitingItem, onClose: () => void): void {
  say(words.ignored, ignore(item))
  onClose()
}

type IgnoreProps = { item: WaitingItem; label?: string; isSmall?: boolean; onClose(): void }

export function IgnoreButton({ item, label, isSmall = false, onClose }: IgnoreProps) {
  return (
    <Button
      kind={isSmall ? 'ghost' : 'secondary'}
      size={isSmall ? 'small' : 'normal'}
      {...(label ? { 'aria-label': label } : {})}
      onPress={() => ignoreItem(item, onClose)}
    >
      {words.ignore}
    </Button>
  )
}
