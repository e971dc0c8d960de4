/** Whether the browser may ask for a passkey by itself: not after the person pressed Lock, and only in a page in front. */
let isLockedByHand = false

export function recordLock(): void {
  isLockedByHand = true
}

export function mayPrompt(): boolean {
  return !isLockedByHand && document.hasFocus()
}
