/**
 * Shows one thing beside the list it is in: a column on a wide screen, over the list below 1,200 px, a page on a phone.
 * It takes the focus when it opens, returns it when it closes, and Escape closes it. With unsaved text in it, closing
 * asks first.
 */
import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../icon_button.tsx'
import { closeAsking } from '../overlays/unsaved.ts'

type Props = {
  title: string
  /** Secrets and hosts are set in the fixed-width font. */
  isMono?: boolean
  /** Replaces the title, which is then below: the state of an item that needs a decision. */
  status?: ReactNode
  /** Beside the title: an environment, a status, a time. */
  badge?: ReactNode
  onClose(): void
  /** Buttons that stay in view. */
  footer?: ReactNode
  children: ReactNode
}

export function Inspector(props: Props) {
  const { title, isMono = false, status, badge, onClose, footer, children } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const inspector = useRef<HTMLElement>(null)
  const close = () => closeAsking(inspector.current, onClose)
  const id = useId()
  useFocusOnce(heading)
  useEscape(close)
  const place = status
    ? 'px-4 pb-1 text-title wrap-anywhere has-[+:empty]:pb-3.5'
    : 'min-w-0 truncate'
  const headingLine = (
    <h2
      id={id}
      ref={heading}
      tabIndex={-1}
      className={`${place} font-semibold outline-none ${isMono ? 'font-mono' : ''}`}
    >
      {title}
    </h2>
  )
  return (
    <section
      ref={inspector}
      data-inspector
      aria-labelledby={id}
      className="flex w-[372px] shrink-0 flex-col overflow-hidden border-l border-line bg-surface max-wide:absolute max-wide:inset-y-0 max-wide:right-0 max-wide:z-10 max-wide:shadow-pop phone:fixed phone:inset-0 phone:z-30 phone:w-full phone:border-0"
    >
      <header className="flex items-center gap-2 px-4 pt-3.5 pb-2.5">
        {status ?? headingLine}
        <span className="ml-auto flex shrink-0 items-center gap-2 text-ink-3">
          {badge}
          <IconButton icon={X} label={texts.common.close} size="small" onPress={close} />
        </span>
      </header>
      <div className="min-h-0 flex-1 overflow-auto">
        {status ? headingLine : null}
        {children}
      </div>
      {footer ? (
        <footer className="flex items-center gap-2 border-t border-line px-4 py-3">{footer}</footer>
      ) : null}
    </section>
  )
}

/** Wherever the focus is: a button that had it may be gone. Menus and dialogs keep the key for themselves. */
function useEscape(onClose: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || isInOverlay(event.target)) return
      event.preventDefault()
      onClose()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [onClose])
}

function isInOverlay(target: EventTarget | null): boolean {
  const overlay = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]'
  return target instanceof Element && target.closest(overlay) !== null
}

/** Returns the focus unless the person is already elsewhere. The row that had it may be gone, at once or a moment later. */
function useFocusOnce(heading: { current: HTMLElement | null }): void {
  useEffect(() => {
    const before = document.activeElement
    heading.current?.focus()
    return () => {
      const isLost = () => document.activeElement === document.body
      if (before instanceof HTMLElement && isLost()) before.focus()
      const focusContent = () => isLost() && document.getElementById('content')?.focus()
      requestAnimationFrame(() => requestAnimationFrame(focusContent))
    }
  }, [heading])
}
