/** Command lines in texts, checked against the commands that exist: names, options and the number of arguments. */
import { parseArgs } from 'node:util'
import { ALIASES, type Spec } from '../../src/cli/command.ts'
import { globalOptions } from '../../src/cli/options.ts'
import { groups, topLevel } from '../cli/every_command.ts'

const OPERATORS = new Set([
  '|',
  '||',
  '&&',
  ';',
  '&',
  '(',
  ')',
  '{',
  '}',
  '!',
  'then',
  'do',
  'else',
])
const REDIRECT = /^\d*(?:>>?|<<?<?)&?\d*-?$/
const nameOf = ({ usage }: Spec) => usage.split(' ')[0] ?? ''

/** Whether a command or group has this name. */
export function isCommand(name: string): boolean {
  return [...topLevel.map(nameOf), ...groups.map((group) => group.name)].includes(name)
}

/** The command that the words begin with; `null` for other words. `rest` follows its name. */
export function commandAt(words: readonly string[]): { spec: Spec; rest: string[] } | null {
  const [first = '', second = '', ...others] = words
  const single = topLevel.find((spec) => nameOf(spec) === first)
  if (single) return { spec: single, rest: words.slice(1) }
  const inGroup = groups.find(({ name }) => name === first)?.commands
  const spec =
    inGroup?.find((each) => nameOf(each) === second) ??
    inGroup?.find((each) => ALIASES[nameOf(each)] === second)
  return spec ? { spec, rest: others } : null
}

/** The program's error for the line, or `null`. `words` come after `cloakroom`. */
export function faultOf(words: readonly string[]): string | null {
  const tokens = tokensOf(words, [])
  const first = tokens.find(({ kind }) => kind === 'positional')
  const before = tokens.filter(({ index }) => index < (first?.index ?? words.length))
  const unknown = faultOfOptions(before, [])
  if (unknown !== null || first === undefined) return unknown
  const after = words.slice(first.index)
  if (after[0] === 'help') return null
  if (groups.some(({ name }) => name === after[0]) && HELP.includes(after[1] ?? '')) return null
  const found = commandAt(after)
  return found ? faultOfArguments(found.spec, found.rest) : `no command ${after.join(' ')}`
}

type Options = readonly (readonly [flags: string, ...others: unknown[]])[]
type Token = { kind: string; index: number; name?: string; value?: unknown }

const HELP = ['-h', '--help']
/** Options that commander adds. */
const OWN: Options = [['-h, --help'], ['-V, --version']]
const allOf = (options: Options): Options => [...options, ...globalOptions, ...OWN]
const longOf = (flags = '') => /--([\w-]+)/.exec(flags)?.[1] ?? ''

function tokensOf(words: readonly string[], own: Options): Token[] {
  const options = allOf(own).map(([flags]) => {
    const short = /^-(\w)\b/.exec(flags)?.[1]
    const type = flags.includes('<') ? ('string' as const) : ('boolean' as const)
    return [longOf(flags), { type, ...(short === undefined ? {} : { short }) }] as const
  })
  const line = { args: [...words], strict: false, allowPositionals: true, tokens: true } as const
  // A command's option wins over a general one of the same name, such as `--version <version>`.
  return parseArgs({ ...line, options: Object.fromEntries(options.reverse()) }).tokens
}

function faultOfOptions(tokens: readonly Token[], own: Options): string | null {
  for (const { kind, name, value } of tokens) {
    if (kind !== 'option') continue
    const [flags] = allOf(own).find(([each]) => longOf(each) === name) ?? []
    if (flags === undefined) return `no option ${name}`
    if (flags.includes('<') && value === undefined) return `no value for ${name}`
  }
  return null
}

function faultOfArguments({ usage, options, passThrough }: Spec, words: readonly string[]) {
  const tokens = tokensOf(words, options)
  if (tokens.some(({ name }) => name === 'help')) return null
  const given = tokens.filter(({ kind }) => kind === 'positional')
  const end = passThrough ? (given[0]?.index ?? words.length) : words.length
  const read = tokens.filter(({ index }) => index < end)
  const values = given.map(({ value }) => String(value))
  return faultOfOptions(read, options) ?? faultOfCount(usage, values)
}

function faultOfCount(usage: string, given: readonly string[]): string | null {
  const places = usage.split(' ').slice(1)
  const least = places.filter((place) => place.startsWith('<')).length
  const most = usage.includes('...') ? Number.POSITIVE_INFINITY : places.length
  if (given.length < least) return `${usage} needs ${least} arguments`
  return given.length > most ? `${usage} takes ${most} arguments, not ${given.join(' ')}` : null
}

/** The arguments of each `cloakroom` in a shell script, those in `$(…)` too. */
export function commandLinesIn(script: string): string[][] {
  const joined = withoutHereDocuments(script).replace(/\\\n\s*/g, ' ')
  const inner = [...joined.matchAll(/\$\(([^()]*)\)/g)].flatMap(([, text = '']) =>
    commandLinesIn(text),
  )
  const lines = joined.replace(/\$\([^()]*\)/g, 'VALUE').split('\n')
  return [...inner, ...lines.flatMap((line) => simpleCommands(line).flatMap(argumentsIn))]
}

function withoutHereDocuments(script: string): string {
  return script.replace(/<<-?\s*(['"]?)(\w+)\1(.*\n)[\s\S]*?^\s*\2$/gm, '$3')
}

/** The words of each command of a line, without variables before it and redirections. */
function simpleCommands(line: string): string[][] {
  const commands: string[][] = [[]]
  let isTarget = false
  for (const word of wordsOf(line.replace(/^\s*\$ /, ''))) {
    if (OPERATORS.has(word)) commands.push([])
    else if (REDIRECT.test(word)) isTarget = !/&\d|-$/.test(word)
    else if (isTarget) isTarget = false
    else commands.at(-1)?.push(word)
  }
  return commands
}

const WORD =
  /\d*(?:>>?|<<?<?)(?:&\d?-?)?|(?:[^\s"'|&;()<>\\]|\\.|"(?:\\.|[^"\\])*"|'[^']*')+|\|\||&&|[|&;()]/g

function wordsOf(line: string): string[] {
  const words: string[] = []
  for (const [word] of line.matchAll(WORD)) {
    if (word.startsWith('#')) break
    words.push(word.replace(/^(["'])(.*)\1$/s, '$2'))
  }
  return words
}

/** Other programs, such as docker, run `cloakroom` as one of their arguments. */
function argumentsIn(words: readonly string[]): string[][] {
  const own = words.findIndex((word) => !/^\w+=/.test(word))
  const at = words.findIndex(
    (word, index) =>
      /(^|\/)cloakroom$/.test(word) && (index === own || isCommand(words[index + 1] ?? '')),
  )
  return at < 0 ? [] : [words.slice(at + 1)]
}
