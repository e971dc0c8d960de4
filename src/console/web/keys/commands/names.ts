/** Names that stand for something else than before, and workspaces that the server does not show any more. */
import type { Held } from '../held.ts'
import { forgetWorkspaces, workspacesOf } from '../places.ts'

/** From now on the name stands for this one. */
export async function accept(held: Held, { id }: { id: string }) {
  held.names.accept(id)
  forgetWorkspaces(held)
}

export async function hidden(held: Held, _: null) {
  return held.names.hidden(await workspacesOf(held))
}

/** The person knows why it is not shown. */
export async function forget(held: Held, { id }: { id: string }) {
  held.names.forget(id)
}
