/** The messages between page and worker. Types only, so that the page does not load the commands. */
import type { commandAreas } from './commands/index.ts'
import type { AccountState, Failure, Progress, WorkspaceNotice } from './reports.ts'

type Areas = { [A in keyof typeof commandAreas]: Awaited<ReturnType<(typeof commandAreas)[A]>> }
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
  Command<N> extends (session: never, input: infer I, ...rest: never[]) => unknown ? I : never
export type Returned<N extends CommandName> =
  Command<N> extends (...all: never[]) => infer O ? Awaited<O> : never

export type ToWorker = { id: number; name: string; input: unknown }
export type FromWorker =
  | { id: number; output: unknown }
  | { id: number; failure: Failure }
  | { id: number; progress: Progress }
  | { account: AccountState }
  | { notice: WorkspaceNotice }
