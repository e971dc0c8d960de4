/**
 * A value that is shown when somebody asks, and hidden again by itself, or when they turn away: it is in the page as
 * long as it is seen, and nowhere else. Copying it does not show it.
 */
import { useCallback, useEffect, useState } from 'react'
import { deadlineIn } from '../deadline.ts'
import { AskError } from '../keys/ask.ts'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'

const SHOWN_MS = 30_000
const LOOK_MS = 1_000
const COPIED_MS = 10_000

type Props = {
  /** What it is the value of, for who does not see the row. */
  name: string
  read: () => Promise<string>
  onError: (error: unknown) => void
}

export function Reveal({ name, read, onError }: Props) {
  const [value, setValue] = useState<string | null>(null)
  const [isReading, setReading] = useState(false)
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const forget = setTimeout(() => setCopied(false), COPIED_MS)
    return () => clearTimeout(forget)
  }, [isCopied])
  const hide = useCallback(() => setValue(null), [])
  useHiding(value !== null, hide)
  const withValue = async (use: (value: string) => unknown) => {
    setReading(true)
    try {
      await use(await read())
    } catch (error) {
      onError(error)
    } finally {
      setReading(false)
    }
  }
  const words = texts.common
  return (
    <span className="reveal">
      {value === null ? (
        <span className="reveal-hidden">••••••••</span>
      ) : (
        <code className="reveal-value">{value}</code>
      )}
      {value === null ? (
        <Button
          kind="quiet"
          aria-label={words.revealNamed(name)}
          isPending={isReading}
          onPress={() => withValue(setValue)}
        >
          {words.reveal}
        </Button>
      ) : (
        <Button kind="quiet" aria-label={words.hideNamed(name)} onPress={hide}>
          {words.hide}
        </Button>
      )}
      <Button
        kind="quiet"
        aria-label={words.copyNamed(name)}
        isPending={isReading}
        onPress={() =>
          withValue(async (text) => {
            await navigator.clipboard.writeText(text).catch(() => {
              throw new AskError({ code: 'not_copied', message: '', fields: [], requestId: null })
            })
            setCopied(true)
          })
        }
      >
        {words.copy}
      </Button>
      <span role="status">{isCopied ? words.copiedSecret : ''}</span>
    </span>
  )
}

/** Hides what is shown: after a while, or when somebody turns away. */
export function useHiding(isShown: boolean, hide: () => void): void {
  useEffect(() => {
    if (!isShown) return
    const deadline = deadlineIn(SHOWN_MS)
    // Again and again: one long timer would go on where it was when a machine wakes up.
    const looking = setInterval(() => deadline.left() > 0 || hide(), LOOK_MS)
    addEventListener('blur', hide)
    document.addEventListener('visibilitychange', hide)
    return () => {
      clearInterval(looking)
      removeEventListener('blur', hide)
      document.removeEventListener('visibilitychange', hide)
    }
  }, [isShown, hide])
}
