/** Names that stand for something else than before, and workspaces that the server does not show any more. */
import type { HeldKeys } from '../held.ts'
import { forgetWorkspaces, workspacesOf } from '../places.ts'

export const namesCommands = { accept, hidden, forget }

/** From now on the name stands for this one. */
async function accept(held: HeldKeys, { id }: { id: string }) {
  held.names.accept(id)
  forgetWorkspaces(held)
}

async function hidden(held: HeldKeys, _: null) {
  return held.names.hidden(await workspacesOf(held))
}

/** The person knows why it is not shown. */
async function forget(held: HeldKeys, { id }: { id: string }) {
  held.names.forget(id)
}
