/** What was done, said in passing, with the way back where there is one. */
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

export function Toasts() {
  return (
    <ToastRegion queue={queue} className="toasts" aria-label={texts.common.notices}>
      {({ toast }) => (
        <Toast toast={toast} className="toast">
          <ToastContent>
            <Text slot="title">{toast.content.text}</Text>
          </ToastContent>
          {toast.content.undo ? (
            <Button
              kind="quiet"
              onPress={() => {
                toast.content.undo?.()
                queue.close(toast.key)
              }}
            >
              {texts.common.undo}
            </Button>
          ) : null}
          <Button kind="quiet" slot="close" aria-label={texts.common.close}>
            ×
          </Button>
        </Toast>
      )}
    </ToastRegion>
  )
}
