/** Replaces the account's keys, for example after someone else may have copied them. */
import { writeRecoveryKey } from '../../../../client/account/recovery.ts'
import {
  generateNextKeys,
  isTaken,
  type NextKeys,
  ownTokens,
  type Rotated,
  rotateKeys,
  UnknownOutcome,
} from '../../../../client/actions/rotate_keys.ts'
import type { OpenWorkspace } from '../../../../client/workspace.ts'
import { isJoined } from '../../../../client/workspaces.ts'
import { Refused } from '../failure.ts'
import { forgetWorkspaces, workspacesOf } from '../places.ts'
import type { Progress } from '../reports.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const rotationCommands = { tokens, rotate }

/** The account's tokens in all workspaces. They end with the keys unless the user keeps them. @throws UntrustedChain */
async function tokens(session: UnlockedSession, _: null) {
  const { held: found, left } = await ownTokens(session.api, await openAll(session))
  return {
    found: found.map(({ token, grant, places }) => ({
      id: token.id,
      label: grant.label,
      environments: places.map(({ environment }) => environment),
    })),
    left,
  }
}

/**
 * Returns the next recovery key, which is shown once. If the answer was lost, the key is valid only if the server stored
 * the new keys, and the next sign-in uses them.
 *
 * @throws ApiError `validation_error` for a wrong password, UntrustedChain, Refused `unreadable_workspace`
 */
async function rotate(
  session: UnlockedSession,
  { current, keep }: { current: string; keep: readonly string[] },
  progress: (progress: Progress) => void,
) {
  const { userId, email } = session.reader()
  progress({ step: 'reading' })
  const { held: found, left } = await ownTokens(session.api, await openAll(session))
  const kept = found.filter(({ token }) => keep.includes(token.id))
  const next = await generateNextKeys()
  const holder = { api: session.api, server: location.origin, email }
  progress({ step: 'sealing' })
  const work = rotateKeys(holder, current, next, () => openAll(session), kept)
  const { rotated, isCertain } = await work.then(
    (all) => ({ rotated: all, isCertain: true }),
    (error: unknown) => outcomeOf(session, next, error),
  )
  if (isCertain) {
    // The remembered unlock has the old seed.
    await session.memory.setRememberedKey(userId, undefined)
    session.lockOthers()
    session.open({ userId, email }, next.keys)
  }
  return {
    isCertain,
    recoveryKey: writeRecoveryKey(next.recoveryKey),
    rekey: rotated.map(({ workspace: { id, name } }) => ({ id, name })),
    granted: rotated.flatMap((each) => each.granted),
    left: [...left, ...rotated.flatMap((each) => each.left)],
  }
}

/** Asks the server for the outcome after a lost answer. */
async function outcomeOf(
  { api }: UnlockedSession,
  { keys }: NextKeys,
  error: unknown,
): Promise<{ rotated: Rotated[]; isCertain: boolean }> {
  if (!(error instanceof UnknownOutcome)) throw error
  const isCertain = await isTaken(api, keys.publicKey).catch(() => false)
  return { rotated: error.rotated, isCertain }
}

/** Opens all joined workspaces. A workspace that is left out could not be opened with the new keys. */
async function openAll(session: UnlockedSession): Promise<OpenWorkspace[]> {
  forgetWorkspaces(session)
  const listed = await workspacesOf(session)
  // If the server hides a workspace, the old keys would stay valid in it.
  if (session.names.listHiddenWorkspaces(listed).length > 0) throw new Refused('hidden_workspace')
  const entries = listed.filter(isJoined)
  return entries.map(({ shown, fault }) => {
    if (fault) throw fault
    if (shown) return shown
    throw new Refused('unreadable_workspace')
  })
}
