/**
 * How a command is declared: one list of options gives commander its flags and the action the type of what
 * it receives. Nothing here loads commander, so that a server starts fast.
 */
import type { Command } from 'commander'
import type { NamedKind, Options } from './arguments.ts'
import type { Context } from './context.ts'

type Camel<Name extends string> = Name extends `${infer Head}-${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Name
type Long<Flags extends string> = Flags extends `${string}--${infer Name} <${string}`
  ? Name
  : Flags extends `${string}--${infer Name}`
    ? Name
    : never
type Key<Flags extends string> = Camel<Long<Flags> extends `no-${infer Name}` ? Name : Long<Flags>>
type Value<Flags extends string> = Flags extends `${string}...>`
  ? string[]
  : Flags extends `${string}>`
    ? string
    : boolean

/** What commander makes of the options: `--from-file <path>` is `fromFile`, a text or not given. */
export type OptionValues<O extends Options> = {
  [Option in O[number] as Key<Option[0]>]: Option extends readonly [string, string, string]
    ? string
    : Value<Option[0]> | undefined
}

/** A command that talks to a server: gets its context, its arguments and its own options. */
export type Action<O extends Options = readonly []> = (
  context: Context,
  args: string[],
  options: OptionValues<O>,
) => Promise<number | undefined>

type Declaration = {
  /** With its arguments: `set <pairs...>`. */
  usage: string
  about: string
  /** What `<name>` in the usage is the name of. */
  names?: NamedKind
  /** Command lines without the program's name. */
  examples: readonly string[]
  /** What follows the arguments is handed on untouched. */
  passThrough?: true
  /** Printed by --help before the examples. */
  details?: () => string
}

export type Spec = Declaration & {
  options: Options
  run(context: Context, command: Command): Promise<number | undefined>
}

/** A command whose action is loaded when it runs and receives what its options declare. */
export function command<const O extends Options = readonly []>({
  options,
  action,
  ...declaration
}: Declaration & { options?: O; action: () => Promise<Action<O>> }): Spec {
  return {
    ...declaration,
    options: options ?? [],
    run: async (context, given) => {
      const act = await action()
      return act(context, given.args, given.opts<OptionValues<O>>())
    },
  }
}

export type Group = { name: string; about: string; commands: readonly Spec[] }

/** Names that other programs have for the same; of two commands of a group the first has it. */
export const ALIASES: Readonly<Record<string, string | undefined>> = {
  list: 'ls',
  delete: 'rm',
  remove: 'rm',
}
