/** Whether the first run of a workspace is still offered. Remembered in this browser. */
import { createShared } from '../../shared.ts'

const keyOf = (workspaceId: string) => `first-run-${workspaceId}`
const changes = createShared(0)

export function useFirstRunOffer(workspaceId: string): { isOffered: boolean; dismiss(): void } {
  changes.useValue()
  return {
    isOffered: localStorage.getItem(keyOf(workspaceId)) === null,
    dismiss: () => {
      localStorage.setItem(keyOf(workspaceId), 'dismissed')
      changes.set(changes.get() + 1)
    },
  }
}
