/**
 * How a command is declared: one file with its usage, options and examples, which give commander what it parses and the
 * action the types of what it receives.
 *
 * The declarations are data, and the types are ours, not those of `@commander-js/extra-typings`: commander's objects keep
 * the values of a run, and commands of several hosts run beside each other; completion reads declarations without
 * commander; and options that commands share in lists lose their types in commander's chain of calls.
 */
import type { NamedKind, Options } from './arguments.ts'
import type { Context } from './context.ts'
import type { Host } from './host.ts'

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

/** The parsed options: `--from-file <path>` is `fromFile`, a text or undefined. */
export type OptionValues<O extends Options> = {
  [Option in O[number] as Key<Option[0]>]: Option extends readonly [string, string, string]
    ? string
    : Value<Option[0]> | undefined
}

type Argument<Word extends string> = Word extends `<${string}...>`
  ? [string, ...string[]]
  : Word extends `[${string}...]`
    ? string[]
    : Word extends `<${string}>`
      ? [string]
      : [string?]
type Arguments<Words extends string> = Words extends `${infer First} ${infer Rest}`
  ? [...Argument<First>, ...Arguments<Rest>]
  : Argument<Words>
/** `rename <project> <name>` has two texts. */
type ArgumentValues<Usage extends string> = Usage extends `${string} ${infer Words}`
  ? Arguments<Words>
  : []

type Declaration<Usage extends string, O extends Options> = {
  /** With its arguments: `set <pairs...>`. */
  usage: Usage
  /** The kind of item that `<name>` in the usage names. */
  names?: NamedKind
  /** Command lines without the program's name. */
  examples: readonly string[]
  options: O
  /** Words after the arguments are passed on unchanged. */
  passThrough?: true
  /** Printed by --help before the examples. */
  details?: () => string
}

/** Returns the exit code, or nothing for 0. */
type Action<Usage extends string, O extends Options> = (
  context: Context,
  args: ArgumentValues<Usage>,
  options: OptionValues<O>,
) => Promise<number | undefined> | Promise<void>

/** The export of a command's file. */
export type Declared = Declaration<string, Options> & {
  run(context: Context, args: string[], options: object): Promise<number>
  /** Without any arguments and the command line library. */
  runAlone?: (host: Host) => Promise<number>
}

export function command<const Usage extends string, const O extends Options = readonly []>({
  options,
  action,
  ...declaration
}: Omit<Declaration<Usage, O>, 'options'> & { options?: O; action: Action<Usage, O> }): Declared {
  return {
    ...declaration,
    options: options ?? [],
    // Commander has parsed them by this declaration.
    run: async (context, args, values) =>
      (await action(context, args as ArgumentValues<Usage>, values as OptionValues<O>)) ?? 0,
  }
}

/** A command that starts fast: without any arguments it is given the host and nothing else. */
export function serverCommand<const O extends Options = readonly []>(
  declaration: { usage: string; options?: O },
  run: (host: Host, isJson: boolean, options?: OptionValues<O>) => Promise<number>,
): Declared {
  const action: Action<string, O> = ({ host, output }, _, options) =>
    run(host, output.isJson, options)
  const examples = [declaration.usage]
  return { ...command({ ...declaration, examples, action }), runAlone: (host) => run(host, false) }
}

/** Aliases known from other programs. If two commands of a group share one, the first gets it. */
export const ALIASES: Readonly<Record<string, string | undefined>> = {
  list: 'ls',
  delete: 'rm',
  remove: 'rm',
}

/** A command, with its line in the table of contents. */
export type Spec = Declared & { about: string }
export type Group = { name: string; about: string; commands: readonly Spec[] }

export function nameOf(entry: Spec | Group): string {
  return 'commands' in entry ? entry.name : nameIn(entry.usage)
}

export function nameIn(usage: string): string {
  return usage.split(' ')[0] ?? ''
}
