/** New keys of the account, where the old ones may be known to others. */
import { writeRecoveryKey } from '../../../../client/account/recovery.ts'
import {
  isTaken,
  type NextKeys,
  newKeys,
  ownTokens,
  type Rotated,
  rotateKeys,
  UnknownOutcome,
} from '../../../../client/actions/rotate_keys.ts'
import type { OpenWorkspace } from '../../../../client/workspace.ts'
import { isJoined } from '../../../../client/workspaces.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { forgetWorkspaces, workspacesOf } from '../places.ts'
import type { Progress } from '../reports.ts'

export const rotationCommands = { tokens, rotate }

/** What ends with the keys, in all workspaces, but for what is kept. @throws UntrustedChain */
async function tokens(held: HeldKeys, _: null) {
  const { held: found, left } = await ownTokens(held.api, await openAll(held))
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
 * Returns the next recovery key, which is shown once. Where the answer was lost it is valid if the server took the new
 * keys, which then come with the next log-in.
 *
 * @throws ApiError `validation_error` for a wrong password, UntrustedChain, Refused `unreadable_workspace`
 */
async function rotate(
  held: HeldKeys,
  { current, keep }: { current: string; keep: readonly string[] },
  progress: (progress: Progress) => void,
) {
  const { userId, email } = held.reader()
  progress({ step: 'reading' })
  const { held: found, left } = await ownTokens(held.api, await openAll(held))
  const kept = found.filter(({ token }) => keep.includes(token.id))
  const next = await newKeys()
  const holder = { api: held.api, server: location.origin, email }
  progress({ step: 'sealing' })
  const work = rotateKeys(holder, current, next, () => openAll(held), kept)
  const { rotated, isCertain } = await work.then(
    (all) => ({ rotated: all, isCertain: true }),
    (error: unknown) => outcomeOf(held, next, error),
  )
  if (isCertain) {
    // What stayed unlocked was the old seed.
    await held.memory.stay(userId, undefined)
    held.lockOthers()
    held.open({ userId, email }, next.keys)
  }
  return {
    isCertain,
    recoveryKey: writeRecoveryKey(next.recoveryKey),
    rekey: rotated.map(({ workspace: { id, name } }) => ({ id, name })),
    granted: rotated.flatMap((each) => each.granted),
    left: [...left, ...rotated.flatMap((each) => each.left)],
  }
}

/** What the server shows after a lost answer. */
async function outcomeOf(
  { api }: HeldKeys,
  { keys }: NextKeys,
  error: unknown,
): Promise<{ rotated: Rotated[]; isCertain: boolean }> {
  if (!(error instanceof UnknownOutcome)) throw error
  const isCertain = await isTaken(api, keys.publicKey).catch(() => false)
  return { rotated: error.rotated, isCertain }
}

/** Without invitations: anybody sends them. What else is left out could not be opened any more. */
async function openAll(held: HeldKeys): Promise<OpenWorkspace[]> {
  forgetWorkspaces(held)
  const listed = await workspacesOf(held)
  // A server that hides one would keep the old keys in force there.
  if (held.names.hidden(listed).length > 0) throw new Refused('hidden_workspace')
  const entries = listed.filter(isJoined)
  return entries.map(({ shown, fault }) => {
    if (fault) throw fault
    if (shown) return shown
    throw new Refused('unreadable_workspace')
  })
}
