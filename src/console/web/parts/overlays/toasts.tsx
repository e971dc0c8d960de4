/**
 * What was done, said in passing, with the way back where there is one. It stays while it is pointed at or has the
 * focus; F6 leads to it and back.
 */
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

type Said = { text: string; undo?: (() => void) | undefined }

const SHOWN_MS = 8_000
const queue = new ToastQueue<Said>({ maxVisibleToasts: 3 })

/** `undo` is offered as long as it is shown. */
export function say(text: string, undo?: () => void): void {
  queue.add({ text, undo }, { timeout: SHOWN_MS })
}

/** Names of buttons are said without what stands around them, so no two of them are the same. */
function placeOf(key: string): number {
  return queue.visibleToasts.findIndex((toast) => toast.key === key) + 1
}

export function Toasts() {
  const isEmpty = useSyncExternalStore(
    (listener) => queue.subscribe(listener),
    () => queue.visibleToasts.length === 0,
  )
  // A region that is in the page before it has something to say is not found by F6.
  if (isEmpty) return null
  return (
    <ToastRegion queue={queue} className="toasts" aria-label={texts.common.notices}>
      {({ toast }) => (
        <Toast toast={toast} className="toast">
          <ToastContent className="toast-text">
            <Text slot="title">{toast.content.text}</Text>
          </ToastContent>
          {toast.content.undo ? (
            <Button
              kind="ghost"
              aria-label={texts.common.undoOf(placeOf(toast.key))}
              onPress={() => {
                toast.content.undo?.()
                queue.close(toast.key)
              }}
            >
              {texts.common.undo}
            </Button>
          ) : null}
          <Button kind="ghost" slot="close" aria-label={texts.common.closeOf(placeOf(toast.key))}>
            ×
          </Button>
        </Toast>
      )}
    </ToastRegion>
  )
}
