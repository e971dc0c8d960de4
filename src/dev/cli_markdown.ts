/** The reference of the command line as Markdown: an index, and a page for each group of commands. */
import { type Group, nameIn, type Spec } from '../cli/command.ts'
import { argumentText } from '../cli/commands/argument_texts.ts'
import { globalOptions } from '../cli/options.ts'
import { cliErrors } from '../cli/terminal/cli_error.ts'
import {
  EX_AUTH,
  EX_CONFIG,
  EX_FAILED,
  EX_NETWORK,
  EX_NO_PROGRAM,
  EX_NOT_EXECUTABLE,
  EX_NOT_FOUND,
  EX_PIPE,
  EX_REFUSED,
  EX_USAGE,
} from '../core/exit_codes.ts'

type Section = { heading: string; entries: readonly (Spec | Group)[] }
export type CliPage = { file: string; title: string; about: string; sections: readonly Section[] }
type Command = { spec: Spec; name: string; usage: string }
/** An argument or option. */
type Part = { written: string; meaning: string }

const exitCodes: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'success'],
  [EX_FAILED, 'failed'],
  [EX_USAGE, 'usage: a missing or invalid argument, option or variable'],
  [EX_AUTH, 'authentication: sign in, or check the token'],
  [EX_NOT_FOUND, 'not found'],
  [EX_REFUSED, 'refused by a role, policy or state'],
  [EX_NETWORK, 'network error, or the server is unhealthy'],
  [EX_CONFIG, 'invalid server configuration'],
  [EX_NOT_EXECUTABLE, '`run`, `proxy`, `echo`: the program cannot be executed'],
  [EX_NO_PROGRAM, '`run`, `proxy`, `echo`: the program does not exist'],
  [EX_PIPE, 'the reader closed standard output'],
]

const WRITTEN = '<!-- Written by src/dev/cli_docs.ts from the commands: do not edit. -->'
/** Commands with so many options have two examples, others one. `--help` prints all. */
const MANY_OPTIONS = 6
const SHARED = 'Shared options'

export function cliIndex(pages: readonly CliPage[]): string {
  return joinBlocks([
    WRITTEN,
    '# Command line',
    'The `cloakroom` program is both server and client. Run `cloakroom <command> --help` for the options and examples of a command.',
    ...pages.flatMap(({ file, sections }) =>
      sections.flatMap(({ heading, entries }) => [`## ${heading}`, indexLines(file, entries)]),
    ),
    '## Global options',
    'All commands accept these options, before or after their name.',
    globalOptions.map(([flags, text]) => lineOf(partOf([flags, text]))).join('\n'),
    '## Exit codes',
    exitTable(),
    'With `--json`, errors are printed to standard error as a JSON object with one of these codes. [Errors](errors.md) lists cause and remedy of each. `cloakroom run` returns the exit code of its program, or 128 plus the number of the signal that ended it.',
  ])
}

export function cliPage({ title, about, sections }: CliPage): string {
  const entries = sections.flatMap((section) => section.entries)
  const commands = entries.flatMap(commandsOf)
  const shared = listSharedOptions(commands)
  const names = globalOptions.map(([flags]) => `\`${findLongName(flags)}\``).join(', ')
  return joinBlocks([
    WRITTEN,
    `# ${title}`,
    about,
    ...entries.flatMap((entry) => entryText(entry, shared)),
    ...formatParts('Arguments', argumentsOf(commands)),
    ...formatParts(SHARED, shared),
    '## Inherited options',
    `All commands accept the [global options](../cli.md#global-options): ${names}.`,
  ])
}

const joinBlocks = (blocks: readonly string[]) => `${blocks.join('\n\n')}\n`

function commandsOf(entry: Spec | Group): Command[] {
  if (!('commands' in entry))
    return [{ spec: entry, name: nameIn(entry.usage), usage: entry.usage }]
  return entry.commands.map((spec) => ({
    spec,
    name: `${entry.name} ${nameIn(spec.usage)}`,
    usage: `${entry.name} ${spec.usage}`,
  }))
}

function indexLines(file: string, entries: readonly (Spec | Group)[]): string {
  return entries
    .flatMap(commandsOf)
    .map(
      ({ spec, name, usage }) =>
        `- [\`${name}\`](cli/${file}.md#${anchorOf(usage)}): ${spec.about}`,
    )
    .join('\n')
}

/** GitHub's anchor of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')

function exitTable(): string {
  const rows = exitCodes.map(([code, meaning]) => {
    const codes = Object.entries(cliErrors).filter(([, exit]) => exit === code)
    return `| ${code} | ${meaning} | ${codes.map(([name]) => `\`${name}\``).join(', ')} |`
  })
  return ['| exit | meaning | `code` with `--json` |', '|---|---|---|', ...rows].join('\n')
}

function entryText(entry: Spec | Group, shared: readonly Part[]): string[] {
  const commands = commandsOf(entry).flatMap((one) => commandText(one, 'commands' in entry, shared))
  return 'commands' in entry ? [`## ${entry.name}`, sentence(entry.about), ...commands] : commands
}

function commandText(
  { spec, usage }: Command,
  isInGroup: boolean,
  shared: readonly Part[],
): string[] {
  const options = spec.options.map(partOf)
  const own = options.filter((part) => !isAmong(shared, part))
  const others = options.filter((part) => isAmong(shared, part))
  const also = others.map(({ written }) => `\`${findLongName(written)}\``).join(', ')
  const examples = worthShowing(spec).map((example) => `cloakroom ${example}`)
  return [
    `${isInGroup ? '###' : '##'} ${usage.replaceAll('<', '\\<')}`,
    sentence(spec.about),
    ...(examples.length > 0 ? [['```sh', ...examples, '```'].join('\n')] : []),
    ...(own.length > 0 ? [own.map(lineOf).join('\n')] : []),
    ...(also === '' ? [] : [`[Also](#${anchorOf(SHARED)}): ${also}`]),
  ]
}

/** The examples that have an option that no earlier one has, or redirect. A plain call adds nothing to the heading. */
function worthShowing({ examples, options }: Spec): readonly string[] {
  const seen = new Set<string>()
  const shown = examples.filter((example) => {
    const marks = example.match(/ (?:--?\w[\w-]*|--|[<>|]|\S+=)(?= |$|\S)/g) ?? []
    const isNew = marks.some((mark) => !seen.has(mark))
    for (const mark of marks) seen.add(mark)
    return isNew
  })
  return shown.slice(0, options.length < MANY_OPTIONS ? 1 : 2)
}

const findLongName = (flags: string) => /--[\w-]+/.exec(flags)?.[0] ?? flags

function partOf([flags, text, fallback]: Spec['options'][number]): Part {
  const meaning = fallback === undefined ? text : `${text} (default: ${fallback})`
  return { written: flags.replace('...', ''), meaning }
}

/** Options with one meaning that several commands of a page have. */
function listSharedOptions(commands: readonly Command[]): Part[] {
  const all = commands.flatMap(({ spec }) => spec.options.map(partOf))
  const meanings = (part: Part) =>
    new Set(all.filter(({ written }) => written === part.written).map(({ meaning }) => meaning))
  return all.filter(
    (part, at) =>
      meanings(part).size === 1 &&
      isAmong(all.slice(at + 1), part) &&
      !isAmong(all.slice(0, at), part),
  )
}

/** Each argument once, by its word, if more can be written about it than its name. */
function argumentsOf(commands: readonly Command[]): Part[] {
  const words = commands.flatMap(({ spec }) => spec.usage.split(' ').slice(1))
  const names = [...new Set(words.map((word) => word.replaceAll(/[^\w]/g, '')))].sort()
  const parts = names.map((name) => ({ written: name, meaning: argumentText(name) }))
  return parts.filter(({ meaning }) => meaning.split(' ').length > 2)
}

const isAmong = (parts: readonly Part[], { written, meaning }: Part) =>
  parts.some((other) => other.written === written && other.meaning === meaning)

const formatParts = (heading: string, parts: readonly Part[]): string[] =>
  parts.length > 0 ? [`## ${heading}`, parts.map(lineOf).join('\n')] : []

const lineOf = ({ written, meaning }: Part) => `- \`${written}\`: ${meaning}`

const sentence = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}.`
