/**
 * Asks for an answer before anything else. Escape closes it, and the focus returns to where it came from. A press beside
 * it does nothing if something is typed in it.
 */
import { type ReactNode, useRef } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'

type Props = {
  title: string
  isOpen: boolean
  onClose(): void
  children: ReactNode
  /** Buttons below the content; the primary one comes last. */
  footer?: ReactNode
  /** Needs an answer: a press beside the dialog does not close it. */
  isAlert?: boolean
}

export function Dialog({ title, isOpen, onClose, children, footer, isAlert = false }: Props) {
  const dialog = useRef<HTMLElement>(null)
  return (
    <ModalOverlay
      className="fixed inset-0 z-40 grid place-items-center bg-scrim p-4 data-entering:animate-[fade_0.15s_ease-out] phone:place-items-end"
      isOpen={isOpen}
      isDismissable={!isAlert}
      shouldCloseOnInteractOutside={() => !dialog.current?.querySelector('[data-unsaved]')}
      onOpenChange={(open) => open || onClose()}
    >
      <Modal className="max-h-[85vh] w-[min(480px,100%)] overflow-auto rounded-card bg-surface shadow-pop phone:w-full">
        <AriaDialog
          ref={dialog}
          data-dialog
          className="flex flex-col gap-4 p-5 outline-none"
          role={isAlert ? 'alertdialog' : 'dialog'}
        >
          <Heading slot="title" level={2} className="text-title font-semibold">
            {title}
          </Heading>
          {children}
          {footer ? <DialogFooter>{footer}</DialogFooter> : null}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

/** The buttons of a form in a dialog. They belong to the form. */
export function DialogFooter({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap justify-end gap-2 pt-1">{children}</div>
}
