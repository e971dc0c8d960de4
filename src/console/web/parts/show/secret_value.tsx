/**
 * A secret value. It is masked until someone asks for it, and hides after 30 seconds or when the window loses the
 * focus. Copying it does not show it.
 */
import { Copy, Eye, EyeOff } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import { deadlineIn } from '../../deadline.ts'
import { AskError } from '../../keys/ask.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../icon_button.tsx'

const SHOWN_MS = 30_000
const LOOK_MS = 1_000
const COPIED_MS = 10_000

type Props = {
  /** The secret's name: a screen reader does not read the row around the buttons. */
  name: string
  read: () => Promise<string>
  onError: (error: unknown) => void
}

export function SecretValue({ name, read, onError }: Props) {
  const { value, setValue, isReading, withValue } = useRead(read, onError)
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const forget = setTimeout(() => setCopied(false), COPIED_MS)
    return () => clearTimeout(forget)
  }, [isCopied])
  const hide = useCallback(() => setValue(null), [setValue])
  useHiding(value !== null, hide)
  const copy = () =>
    withValue(async (text) => {
      await navigator.clipboard.writeText(text).catch(() => {
        throw new AskError({ code: 'not_copied', message: '', fields: [], requestId: null })
      })
      setCopied(true)
    })
  const words = texts.common
  const isShown = value !== null
  return (
    <span className="flex flex-col gap-1">
      <span className="flex items-center gap-1 rounded-[8px] border border-line-2 bg-canvas py-1 pr-1 pl-3">
        {isShown ? (
          <code
            data-secret-value
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard
            tabIndex={0}
            className="max-h-80 min-w-0 flex-1 overflow-auto font-mono text-mono wrap-anywhere whitespace-pre-wrap"
          >
            {value}
          </code>
        ) : (
          <span className="flex-1 text-caption tracking-[1.5px] text-ink-2">••••••••</span>
        )}
        {isShown ? <TimeLeft /> : null}
        <IconButton
          icon={isShown ? EyeOff : Eye}
          label={isShown ? words.hideNamed(name) : words.revealNamed(name)}
          tip={isShown ? words.hide : words.reveal}
          size="small"
          isPending={isReading}
          onPress={isShown ? hide : () => withValue(setValue)}
        />
        <IconButton
          icon={Copy}
          label={words.copyNamed(name)}
          tip={words.copy}
          size="small"
          isPending={isReading}
          onPress={copy}
        />
      </span>
      <span role="status" className="text-small text-ink-2">
        {isCopied ? words.copiedSecret : ''}
      </span>
    </span>
  )
}

function useRead(read: Props['read'], onError: Props['onError']) {
  const [value, setValue] = useState<string | null>(null)
  const [isReading, setReading] = useState(false)
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
  return { value, setValue, isReading, withValue }
}

/** A ring that empties until the value hides. */
function TimeLeft() {
  return (
    <svg aria-hidden="true" viewBox="0 0 16 16" className="size-4 shrink-0 -rotate-90">
      <circle cx="8" cy="8" r="6" fill="none" strokeWidth="2" className="stroke-line-2" />
      <circle
        cx="8"
        cy="8"
        r="6"
        fill="none"
        strokeWidth="2"
        pathLength="1"
        strokeDasharray="1"
        className="animate-[drain_30s_linear_forwards] stroke-accent"
      />
    </svg>
  )
}

/** Hides a value after 30 seconds, or when the window loses the focus. */
export function useHiding(isShown: boolean, hide: () => void): void {
  useEffect(() => {
    if (!isShown) return
    const deadline = deadlineIn(SHOWN_MS)
    // An interval: one long timer would resume where it was when a machine wakes up.
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
