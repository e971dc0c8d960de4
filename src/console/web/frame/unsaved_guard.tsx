/** Asks before unsaved text is lost: a closed sheet or inspector, another address, a reload. */
import { type BlockerFn, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogFooter } from '../parts/overlays/dialog.tsx'
import {
  answerDiscard,
  askDiscard,
  hasUnsaved,
  useDiscardQuestion,
} from '../parts/overlays/unsaved.ts'
import { texts } from '../texts/index.ts'

const words = texts.common.unsaved

export function UnsavedGuard() {
  const { history } = useRouter()
  const question = useDiscardQuestion()
  useEffect(
    () =>
      history.block({
        blockerFn: async (change) => hasUnsaved(findLeftPart(change)) && !(await askDiscard()),
        enableBeforeUnload: () => hasUnsaved(),
      }),
    [history],
  )
  // A locked console has no text to keep.
  useEffect(() => () => answerDiscard(false), [])
  const keep = () => answerDiscard(false)
  return (
    <Dialog title={words.title} isOpen={question !== null} onClose={keep} isAlert>
      <p>{words.help}</p>
      <DialogFooter>
        <Button autoFocus onPress={keep}>
          {words.keep}
        </Button>
        <Button kind="danger" onPress={() => answerDiscard(true)}>
          {words.discard}
        </Button>
      </DialogFooter>
    </Dialog>
  )
}

/** Parameters of the address that choose what an inspector or screen shows. */
const CHOSEN = ['project', 'environment', 'key', 'open']

/** The part of the page that is left. A sheet's form that was saved changes the address itself, which is not asked about. */
function findLeftPart({
  action,
  currentLocation: from,
  nextLocation: to,
}: Parameters<BlockerFn>[0]) {
  const isOwn = action === 'PUSH' || action === 'REPLACE'
  if (!isOwn || from.pathname !== to.pathname) return document
  const [before, after] = [new URLSearchParams(from.search), new URLSearchParams(to.search)]
  const isOther = CHOSEN.some((name) => {
    const next = after.get(name)
    return next !== null && before.has(name) && before.get(name) !== next
  })
  return isOther ? document.querySelector('[data-inspector]') : null
}
