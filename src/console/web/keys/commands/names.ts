/** Names that stand for something else than before, and workspaces that the server does not show any more. */
import type { Held } from '../held.ts'
import { forgetWorkspaces, workspacesOf } from '../places.ts'

export const namesCommands = { accept, hidden, forget }

/** From now on the name stands for this one. */
async function accept(held: Held, { id }: { id: string }) {
  held.names.accept(id)
  forgetWorkspaces(held)
}

async function hidden(held: Held, _: null) {
  return held.names.hidden(await workspacesOf(held))
}

/** The person knows why it is not shown. */
async function forget(held: Held, { id }: { id: string }) {
  held.names.forget(id)
}
