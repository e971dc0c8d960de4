/**
 * `cloakroom __complete WORDS…`: candidates for the last word, for the shells' scripts. One candidate per line, with
 * its description after a tab; a line `:…` is an instruction for the shell. It responds within a second, never prompts,
 * and uses cached names if the server is slow.
 */
import { writeSync } from 'node:fs'
import { endsWithin } from '../../core/async/timeout.ts'
import { ALIASES, type Group, nameOf, type Spec } from '../command.ts'
import { type Host, isOwnProcess } from '../host.ts'
import { globalOptions } from '../options.ts'
import { type Flag, flagOf, type Line, readLine } from './line.ts'

/** Milliseconds for asking the server. */
const TIMEOUT_MS = 800

type Candidate = { word: string; about?: string }
/** `files` and `commands` are for the shell to find; after `more` no blank follows. */
type Answer = { candidates: readonly Candidate[]; shell: 'done' | 'files' | 'commands' | 'more' }

const NOTHING: Answer = { candidates: [], shell: 'done' }

/** Ends the executable: a server that has not answered yet is not waited for. */
export async function runComplete(
  host: Host,
  words: readonly string[],
  entries: readonly (Spec | Group)[],
): Promise<number> {
  const globals = globalOptions.map(([flags, about]) => flagOf(flags, about))
  const line = readLine(words, { entries, globals, aliases: ALIASES })
  const { candidates, shell } = await answerOf(host, line, entries).catch(() => NOTHING)
  const lines = candidates
    // Names with a line break or an escape cannot be typed.
    .filter(({ word }) => word.startsWith(line.current) && !/\p{C}/u.test(word))
    .map(({ word, about }) => (about === undefined ? word : `${word}\t${about}`))
  const text = [...lines, `:${shell}`, ''].join('\n')
  if (!isOwnProcess(host)) {
    host.streams.stdout.write(text)
    return 0
  }
  writeSync(1, text)
  return process.exit(0)
}

async function answerOf(
  host: Host,
  { wanted, given }: Line,
  entries: readonly (Spec | Group)[],
): Promise<Answer> {
  if (wanted.kind === 'program') {
    return { candidates: [], shell: wanted.isFirst ? 'commands' : 'files' }
  }
  if (wanted.kind === 'options')
    return { candidates: wanted.flags.flatMap(optionWords), shell: 'done' }
  if (wanted.kind === 'commands') {
    const all = wanted.group?.commands ?? entries
    const candidates = all.map((entry) => ({ word: nameOf(entry), about: entry.about }))
    return { candidates, shell: 'done' }
  }
  return valuesOf(host, wanted, given)
}

function optionWords({ names, about }: Flag): Candidate[] {
  return names.map((word) => ({ word, about }))
}

async function valuesOf(
  host: Host,
  { placeholder, prefix }: Extract<Line['wanted'], { kind: 'value' }>,
  given: Line['given'],
): Promise<Answer> {
  const { sources } = await import('./sources.ts')
  const source = placeholder === null ? undefined : sources[placeholder]
  if (!source) return NOTHING
  if ('shell' in source) return { candidates: [], shell: source.shell }
  if ('words' in source)
    return { candidates: source.words.map((word) => ({ word: prefix + word })), shell: 'done' }
  if ('accounts' in source) return accountWords(host, prefix)
  if ('topics' in source) return topicWords(prefix)
  const { names, ending = '' } = source
  const { namesFor } = await import('./lookup.ts')
  const words: string[] = []
  const found = namesFor(host, names, given, (list) => words.splice(0, words.length, ...list))
  await endsWithin(
    TIMEOUT_MS,
    found.catch(() => {}),
  )
  const candidates = [...new Set(words)].map((word) => ({ word: `${prefix}${word}${ending}` }))
  return { candidates, shell: ending === '' ? 'done' : 'more' }
}

async function topicWords(prefix: string): Promise<Answer> {
  const { readPages } = await import('../../console/docs/texts.ts')
  const { nameTopics: namedTopics } = await import('../help/topics.ts')
  const topics = [...namedTopics(await readPages())]
  const candidates = topics.map(([name, { title }]) => ({ word: `${prefix}${name}`, about: title }))
  return { candidates, shell: 'done' }
}

async function accountWords({ env }: Host, prefix: string): Promise<Answer> {
  const { readRegistry } = await import('../accounts/registry.ts')
  const { all } = readRegistry(env)
  const candidates = all.map(({ name, server }) => ({ word: `${prefix}${name}`, about: server }))
  return { candidates, shell: 'done' }
}
