/**
 * Reports what was done, with an undo button if there is one. At most three float in the corner, above the buttons of
 * sheets. A toast stays while it is pointed at or has the focus; F6 leads to it and back.
 */
import { X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import {
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { Button } from '../button.tsx'
import { IconButton } from '../icon_button.tsx'

type Undo = {
  /** @returns what was done, for another toast */
  act(): Promise<string>
  /** Shown if it fails. */
  failed: string
}
/** A function can't fail, and what it does is seen. */
type AnyUndo = Undo | (() => void)
type Said = { text: string; undo?: AnyUndo | undefined }

const SHOWN_MS = 8_000
const queue = new ToastQueue<Said>({ maxVisibleToasts: 3 })

/** `undo` is offered as long as the toast is shown, which may outlive the part that it belongs to. */
export function say(text: string, undo?: AnyUndo): void {
  queue.add({ text, undo }, { timeout: SHOWN_MS })
}

/** Screen readers read a button's name alone, so no two toasts have the same one. */
function placeOf(key: string): number {
  return queue.visibleToasts.findIndex((toast) => toast.key === key) + 1
}

async function run(undo: AnyUndo | undefined): Promise<void> {
  if (typeof undo !== 'object') undo?.()
  else
    await undo.act().then(
      (done) => say(done),
      () => say(undo.failed),
    )
}

export function Toasts() {
  const isEmpty = useSyncExternalStore(
    (listener) => queue.subscribe(listener),
    () => queue.visibleToasts.length === 0,
  )
  // F6 does not find a region that was empty when it was added to the page.
  if (isEmpty) return null
  return (
    <ToastRegion
      queue={queue}
      data-toasts
      aria-label={texts.common.notices}
      className="fixed right-4 bottom-18 z-50 flex w-90 flex-col gap-2 rounded-card outline-none phone:inset-x-4 phone:bottom-34 phone:w-auto"
    >
      {({ toast }) => (
        <Toast
          toast={toast}
          data-toast
          className="flex min-h-10 items-center gap-2 rounded-card bg-surface py-1 pr-1 pl-3 shadow-pop"
        >
          <ToastContent className="min-w-0 flex-1 wrap-anywhere">
            <Text slot="title">{toast.content.text}</Text>
          </ToastContent>
          {toast.content.undo ? (
            <Button
              size="small"
              aria-label={texts.common.undoOf(placeOf(toast.key))}
              onPress={() => {
                void run(toast.content.undo)
                queue.close(toast.key)
              }}
            >
              {texts.common.undo}
            </Button>
          ) : null}
          <IconButton
            icon={X}
            size="small"
            slot="close"
            label={texts.common.closeOf(placeOf(toast.key))}
            tip={texts.common.close}
          />
        </Toast>
      )}
    </ToastRegion>
  )
}
