/** Changed names, and workspaces that the server no longer lists. */

import { forgetWorkspaces, workspacesOf } from '../places.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const namesCommands = { accept, hidden: listHidden, forget }

/** Pins the name to this ID. */
async function accept(session: UnlockedSession, { id }: { id: string }) {
  session.names.accept(id)
  forgetWorkspaces(session)
}

async function listHidden(session: UnlockedSession, _: null) {
  return session.names.listHiddenWorkspaces(await workspacesOf(session))
}

/** Forgets a hidden workspace that the user left. */
async function forget(session: UnlockedSession, { id }: { id: string }) {
  session.names.forget(id)
}
