/** Which token was made here, by its id: its text stays with the worker of the keys until somebody asks for it. */
import { shared } from '../../shared.ts'

const made = shared<Readonly<Record<string, string>>>({})

export function keepMade(workspaceId: string, id: string): void {
  made.set({ ...made.get(), [workspaceId]: id })
}

export function useMade(workspaceId: string): string | null {
  return made.useValue()[workspaceId] ?? null
}
