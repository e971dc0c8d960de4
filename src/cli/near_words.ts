/** Commands and options that a mistyped one may mean: near in letters, or another program's word for the same. */
import type { Command } from 'commander'
import { findNearNames } from './named.ts'

/** Words that programs use for the same thing. */
const ALIKE: readonly (readonly string[])[] = [
  ['delete', 'remove', 'rm', 'revoke', 'end', 'destroy', 'ungrant'],
  ['create', 'add', 'new', 'issue', 'make', 'init'],
  ['list', 'ls', 'show', 'get', 'view', 'read', 'log', 'members'],
  ['set', 'put', 'update', 'edit', 'write', 'change'],
  ['rename', 'move', 'mv'],
  ['pull', 'export', 'download'],
  ['push', 'import', 'upload'],
  ['login', 'signin', 'sign-in'],
  ['logout', 'signout', 'sign-out'],
  ['env', 'environment', 'stage'],
  ['yes', 'force', 'confirm'],
  ['expires-in-days', 'expires', 'expiry', 'ttl'],
  ['workspace', 'team', 'org', 'organization'],
  ['quiet', 'silent'],
  ['debug', 'verbose'],
  ['agent', 'bot'],
  ['accept', 'join'],
  ['remove', 'leave', 'quit'],
  ['header', 'headers'],
]
const MOST = 3

/** The suggestion for an unknown command or option of `command`, or `null`. */
export function suggestNearWords(command: Command, code: string, message: string): string[] {
  const typed = /'([^']+)'/.exec(message)?.[1] ?? ''
  if (code === 'commander.unknownCommand')
    return nearestOf(
      typed,
      command.commands.map((one) => one.name()),
    ).map((near) => withArgument(command, typed, near))
  if (code !== 'commander.unknownOption' || !typed.startsWith('--')) return []
  const long = command.options.flatMap((option) => option.long?.slice(2) ?? [])
  const [name = ''] = typed.slice(2).split('=')
  return nearestOf(name, long).map((near) => `--${near}`)
}

/** Members leave a workspace by removing themselves. */
function withArgument(command: Command, typed: string, near: string): string {
  const isLeaving = command.name() === 'workspace' && ['leave', 'quit'].includes(typed)
  return isLeaving && near === 'remove' ? 'remove YOUR_ADDRESS' : near
}

function nearestOf(typed: string, known: readonly string[]): string[] {
  const families = ALIKE.filter((family) => family.includes(typed))
  const alike = known.filter((name) => families.some((family) => family.includes(name)))
  const near = findNearNames(typed, known)
  const begin = near.filter((name) => name[0] === typed[0])
  return [...new Set([...alike, ...begin, ...near])].slice(0, MOST)
}

/** As commander writes it, below its message. */
export function suggestionLine(near: readonly string[]): string {
  return `(Did you mean ${near.length > 1 ? 'one of ' : ''}${near.join(', ')}?)`
}
