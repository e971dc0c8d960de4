/** The token that was created here, by its ID. The worker of the keys has its text until the token is forgotten. */
import { createShared } from '../../shared.ts'

const created = createShared<Readonly<Record<string, string>>>({})

export function rememberCreated(workspaceId: string, id: string): void {
  created.set({ ...created.get(), [workspaceId]: id })
}

export function useCreated(workspaceId: string): string | null {
  return created.useValue()[workspaceId] ?? null
}
