/** The worker's reports to the page: account states, notices, progress and failures. */
import type { FieldFault } from '../../../core/fault.ts'

/** Progress of a long command: the current step, and the finished share from 0 to 1 if known. */
export type Progress = { step: string; done?: number }

/**
 * Why the keys are locked: the idle timer ran out, a chosen time ended, another tab locked them, or the server could
 * not be reached to end the session. Null if this tab locked them.
 */
export type LockedBy = 'idle' | 'time' | 'tab' | 'unreached' | null

/** The state of this browser's account. */
export type AccountState =
  /** No one is signed in. `isEnded` if the server ended the last session. */
  | { kind: 'out'; isEnded: boolean }
  /** The server cannot be reached, so the session is unknown. */
  | { kind: 'unavailable'; failure: Failure }
  /** Signed in, without keys. */
  | { kind: 'locked'; email: string; by: LockedBy }
  /**
   * `until` is when the keys lock, if the person chose a time. Otherwise the idle timer locks them.
   * `isEnding` is true in the last minute.
   */
  | { kind: 'open'; email: string; userId: string; until: number | null; isEnding: boolean }

/** A notice to the person about a workspace. */
export type WorkspaceNotice = { workspaceId: string; workspace: string } & (
  | { kind: 'met' | 'plain'; fingerprint: string }
  | { kind: 'rekeyed'; epoch: number }
  /** A known name now has another ID: `id` is the new one, `before` are the old ones. */
  | { kind: 'name'; list: string; id: string; name: string; before: readonly string[] }
  | { kind: 'people'; changes: readonly { at: string; by: string; what: string }[] }
)

/** An error as the page can show it. */
export type Failure = {
  code: string
  message: string
  fields: readonly FieldFault[]
  requestId: string | null
}
