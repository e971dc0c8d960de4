/** Text that was typed and not saved. Fields mark it in the page, and whatever would remove them asks first. */
import { createShared } from '../../shared.ts'

/** For the element around the text. */
export function markUnsaved(isUnsaved: boolean): { 'data-unsaved'?: '' } {
  return isUnsaved ? { 'data-unsaved': '' } : {}
}

/** Dialogs are short, and their Cancel button discards. */
export function hasUnsaved(within: ParentNode | null = document): boolean {
  const marked = [...(within?.querySelectorAll('[data-unsaved]') ?? [])]
  return marked.some((element) => !element.closest('[data-dialog]:not([data-sheet])'))
}

const question = createShared<((discards: boolean) => void) | null>(null)
export const useDiscardQuestion = question.useValue

/** Resolves to true if the person discards the text. */
export function askDiscard(): Promise<boolean> {
  answerDiscard(false)
  return new Promise((resolve) => question.set(resolve))
}

export function answerDiscard(discards: boolean): void {
  question.get()?.(discards)
  question.set(null)
}

/** Asks first if the element has unsaved text. */
export function closeAsking(within: ParentNode | null, close: () => void): void {
  if (!hasUnsaved(within)) close()
  else void askDiscard().then((discards) => discards && close())
}
