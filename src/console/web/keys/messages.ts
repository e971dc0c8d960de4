/** What page and worker say to each other. Types only: the page loads nothing of the commands. */
import type { FieldFault } from '../../../platform/fault.ts'
import type { areas } from './commands/index.ts'

type Areas = { [A in keyof typeof areas]: Awaited<ReturnType<(typeof areas)[A]>> }
/** A command as the page calls it, such as `secrets.set`. */
export type CommandName = {
  [A in keyof Areas]: `${A}.${Extract<keyof Areas[A], string>}`
}[keyof Areas]

type Command<N extends CommandName> = N extends `${infer A extends keyof Areas}.${infer C}`
  ? C extends keyof Areas[A]
    ? Areas[A][C]
    : never
  : never

export type Input<N extends CommandName> =
  Command<N> extends (held: never, input: infer I, ...rest: never[]) => unknown ? I : never
export type Output<N extends CommandName> =
  Command<N> extends (...all: never[]) => infer O ? Awaited<O> : never

/** Long work: what is being done, and how much of it is done already, from 0 to 1 where that is known. */
export type Progress = { step: string; done?: number }

/**
 * Why the keys are locked: nobody worked, a chosen time was over, it was said in another tab, the server could not be
 * reached to end the session; null where it was said here.
 */
export type LockedBy = 'idle' | 'time' | 'tab' | 'unreached' | null

/** Who works here. */
export type AccountState =
  /** Nobody is logged in; `isEnded` where somebody was, and the server knows the session no more. */
  | { kind: 'out'; isEnded: boolean }
  /** Whether somebody is cannot be asked now. */
  | { kind: 'away'; failure: Failure }
  /** The session is there, the keys are not. */
  | { kind: 'locked'; email: string; by: LockedBy }
  /**
   * `until` is when the keys are locked at the latest, where the person chose a time; else when nobody works.
   * `isEnding` in the minute before that.
   */
  | { kind: 'open'; email: string; userId: string; until: number | null; isEnding: boolean }

/** What a person should hear of a workspace. */
export type Notice = { workspaceId: string; workspace: string } & (
  | { kind: 'met' | 'plain'; fingerprint: string }
  | { kind: 'rekeyed'; epoch: number }
  /** A name that stood for others; the id is that of what has it now. */
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

export type ToWorker = { id: number; name: string; input: unknown }
export type FromWorker =
  | { id: number; output: unknown }
  | { id: number; failure: Failure }
  | { id: number; progress: Progress }
  | { account: AccountState }
  | { notice: Notice }
