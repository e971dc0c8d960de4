/** The line being typed: the command so far, and candidates for the last word. */
import { type Group, nameOf, type Spec } from '../command.ts'
import type { GlobalOptions } from '../context.ts'

/** Flags with their placeholder, as a declaration has them. */
export type Flag = {
  names: readonly string[]
  placeholder: string | null
  about: string
}

export type Line = {
  /** Values of options that every command has. */
  given: GlobalOptions
  current: string
  wanted:
    | { kind: 'commands'; group: Group | null }
    | { kind: 'options'; flags: readonly Flag[] }
    /** By placeholder. `prefix` is the option's name if it is in the same word. */
    | { kind: 'value'; placeholder: string | null; prefix: string }
    /** Words after the program of `run` and `proxy`. */
    | { kind: 'program'; isFirst: boolean }
}

type Catalogue = {
  entries: readonly (Spec | Group)[]
  globals: readonly Flag[]
  aliases: Readonly<Record<string, string | undefined>>
}

export function flagOf(flags: string, about: string): Flag {
  const [, placeholder = null] = /<([\w-]+?)(?:\.\.\.)?>/.exec(flags) ?? []
  return { names: flags.match(/(?<=^|\s)--?[\w-]+/g) ?? [], placeholder, about }
}

/** `words` without the program's name; the last one is being typed. */
export function readLine(words: readonly string[], catalogue: Catalogue): Line {
  const { previous, current } = split(words)
  const given: Record<string, string> = {}
  const state: State = { group: null, spec: null, positionals: 0, isProgram: false, open: null }
  for (const word of previous) step(state, word, catalogue, given)
  return { given, current, wanted: wantedOf(state, current, catalogue) }
}

type State = {
  group: Group | null
  spec: Spec | null
  positionals: number
  /** After `--`, or after the first argument of a command that passes on the rest. */
  isProgram: boolean
  /** An option that waits for its value. */
  open: Flag | null
}

/** bash makes three words of `--env=sta`; here they are two: the option and its value. */
function split(words: readonly string[]): { previous: string[]; current: string } {
  const joined = words.filter((word, at) => word !== '=' || !words[at - 1]?.startsWith('--'))
  const isEmpty = words.at(-1) === '=' && joined.length < words.length
  const typed = isEmpty ? [...joined, ''] : joined
  return { previous: typed.slice(0, -1), current: typed.at(-1) ?? '' }
}

function step(
  state: State,
  word: string,
  catalogue: Catalogue,
  given: Record<string, string>,
): void {
  if (state.open) {
    remember(given, state.open, word)
    state.open = null
  } else if (state.isProgram) state.positionals += 1
  else if (word === '--') state.isProgram = true
  else if (word.startsWith('-')) openOption(state, word, catalogue, given)
  else if (state.spec) argument(state, state.spec)
  else choose(state, word, catalogue)
}

function openOption(
  state: State,
  word: string,
  catalogue: Catalogue,
  given: Record<string, string>,
): void {
  const [name = '', value] = word.split(/=(.*)/s)
  const flag = flagsOf(state, catalogue).find(({ names }) => names.includes(name))
  if (!flag?.placeholder) return
  if (value === undefined) state.open = flag
  else remember(given, flag, value)
}

function argument(state: State, spec: Spec): void {
  state.positionals += 1
  if (spec.passThrough) state.isProgram = true
}

function choose(state: State, typed: string, { entries, aliases }: Catalogue): void {
  const found = (state.group?.commands ?? entries).find((entry) => {
    const name = nameOf(entry)
    return name === typed || (!('commands' in entry) && aliases[name] === typed)
  })
  if (found && 'commands' in found) state.group = found
  else state.spec = found ?? null
}

function remember(given: Record<string, string>, { names }: Flag, value: string): void {
  const long = names.at(-1)?.replace(/^--/, '')
  if (long !== undefined) given[long] = value
}

function wantedOf(state: State, current: string, catalogue: Catalogue): Line['wanted'] {
  const { spec, group, open, positionals } = state
  if (open) return { kind: 'value', placeholder: open.placeholder, prefix: '' }
  if (state.isProgram && spec?.passThrough) return { kind: 'program', isFirst: positionals === 0 }
  if (current.startsWith('-') && !state.isProgram) return optionOf(state, current, catalogue)
  if (!spec) return { kind: 'commands', group }
  const placeholders = spec.usage.split(' ').slice(1)
  const last = placeholders.at(-1)
  const placeholder = placeholders[positionals] ?? (last?.includes('...') ? last : null)
  return { kind: 'value', placeholder: placeholder?.replace(/[<>[\].]/g, '') ?? null, prefix: '' }
}

function optionOf(state: State, current: string, catalogue: Catalogue): Line['wanted'] {
  const flags = flagsOf(state, catalogue)
  const at = current.indexOf('=')
  if (at === -1) return { kind: 'options', flags }
  const named = flags.find(({ names }) => names.includes(current.slice(0, at)))
  return {
    kind: 'value',
    placeholder: named?.placeholder ?? null,
    prefix: current.slice(0, at + 1),
  }
}

function flagsOf({ spec }: State, { globals }: Catalogue): Flag[] {
  const own = spec?.options.map(([flags, about]) => flagOf(flags, about)) ?? []
  return [...own, ...globals]
}
