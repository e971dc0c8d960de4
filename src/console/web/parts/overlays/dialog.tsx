/** What needs an answer before all else. Escape closes it, and the focus goes back to where it came from. */
import type { ReactNode } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'

type Props = {
  title: string
  isOpen: boolean
  onClose(): void
  children: ReactNode
  /** An answer is demanded: nothing but it closes the dialog by accident. */
  isAlert?: boolean
}

export function Dialog({ title, isOpen, onClose, children, isAlert = false }: Props) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      isDismissable={!isAlert}
      onOpenChange={(open) => open || onClose()}
    >
      <Modal className="dialog">
        <AriaDialog className="stack" role={isAlert ? 'alertdialog' : 'dialog'}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}
