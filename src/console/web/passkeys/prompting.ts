/** Whether the browser may prompt for a passkey without a press: only in a visible page, and not after Lock. */
let isLockedByHand = false

export function recordLock(): void {
  isLockedByHand = true
}

export function mayPrompt(): boolean {
  return !isLockedByHand && document.hasFocus()
}
