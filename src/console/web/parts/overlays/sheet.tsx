/**
 * A form or a guide over the right side of the screen. Escape closes it, and a press beside it. With unsaved text in it,
 * closing asks first, and a press beside it does nothing.
 */
import { X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../icon_button.tsx'
import { closeAsking, hasUnsaved } from './unsaved.ts'

type Props = {
  title: string
  isOpen: boolean
  onClose(): void
  children: ReactNode
  /** Buttons that stay in sight below the content; the primary one comes last. */
  footer?: ReactNode
  width?: 420 | 560
  /** Has something that would be lost: a press beside the sheet and Escape do not close it. */
  needsAnswer?: boolean
}

const WIDTHS = { 420: 'desk:w-[420px]', 560: 'desk:w-[560px]' }

export function Sheet({ title, isOpen, onClose, children, footer, ...props }: Props) {
  const { width = 420, needsAnswer = false } = props
  const sheet = useRef<HTMLElement>(null)
  const close = () => closeAsking(sheet.current, onClose)
  return (
    <ModalOverlay
      className="fixed inset-0 z-40 bg-scrim data-entering:animate-[fade_0.15s_ease-out]"
      isOpen={isOpen}
      isDismissable={!needsAnswer}
      isKeyboardDismissDisabled={needsAnswer}
      shouldCloseOnInteractOutside={() => !hasUnsaved(sheet.current)}
      onOpenChange={(open) => open || close()}
    >
      <Modal
        className={`fixed inset-y-0 right-0 w-full bg-surface shadow-pop data-entering:animate-[slide_0.18s_ease-out] ${WIDTHS[width]}`}
      >
        <AriaDialog
          ref={sheet}
          data-dialog
          data-sheet
          className="flex h-full flex-col outline-none"
        >
          <header className="flex h-13 shrink-0 items-center justify-between border-b border-line pr-2 pl-5">
            <Heading slot="title" level={2} className="text-title font-semibold">
              {title}
            </Heading>
            <IconButton
              icon={X}
              label={texts.common.close}
              onPress={close}
              {...(needsAnswer ? {} : { shortcut: 'Esc' })}
            />
          </header>
          <div className="flex flex-1 flex-col gap-4 overflow-auto p-5">{children}</div>
          {footer ? (
            <footer className="flex shrink-0 justify-end gap-2 border-t border-line px-5 py-3">
              {footer}
            </footer>
          ) : null}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

/** The buttons of a form that fills a sheet. They belong to the form. */
export function SheetFooter({ children }: { children: ReactNode }) {
  return (
    <footer className="sticky -bottom-5 z-1 -mx-5 mt-auto -mb-5 flex justify-end gap-2 border-t border-line bg-surface px-5 py-3">
      {children}
    </footer>
  )
}

/** The form around a `SheetFooter`. */
export const SHEET_FORM = 'flex flex-1 flex-col gap-4'
