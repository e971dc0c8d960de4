/** `cloakroom completion`: scripts for shells, made from the catalogue of commands. */

import type { Action, Group, Spec } from '../command.ts'
import { CliError } from '../terminal/cli_error.ts'

type Words = Map<string, string[]>

/** The action for a command line of these groups and commands. */
export function completionFor(groups: readonly Group[], specs: readonly Spec[]): Action {
  return async (context, [shell = '']) => {
    const scripts: Record<string, (words: Words) => string> = { bash, zsh, fish }
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
    if (!script) {
      throw new CliError('usage', `the shell must be one of ${Object.keys(scripts).join(', ')}`)
    }
    context.output.raw(script(vocabulary(groups, specs)))
    return undefined
  }
}

/** What may follow: under the empty word the commands, under a group its own. */
function vocabulary(groups: readonly Group[], specs: readonly Spec[]): Words {
  const nameOf = ({ usage }: Spec) => usage.split(' ')[0] ?? ''
  const words: Words = new Map([['', [...specs.map(nameOf), ...groups.map(({ name }) => name)]]])
  for (const { name, commands } of groups) words.set(name, commands.map(nameOf))
  return words
}

function bash(words: Words): string {
  const cases = [...words]
    .filter(([word]) => word !== '')
    .map(([word, list]) => `    ${word}) words="${list.join(' ')}" ;;`)
  return `_cloakroom() {
  local current previous words=""
  current="$2"
  previous="$3"
  if [ "$COMP_CWORD" -eq 1 ]; then words="${words.get('')?.join(' ')}"; fi
  if [ "$COMP_CWORD" -eq 2 ]; then case "$previous" in
${cases.join('\n')}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _cloakroom cloakroom
`
}

function zsh(words: Words): string {
  return `#compdef cloakroom\nautoload -U +X bashcompinit && bashcompinit\n${bash(words)}`
}

function fish(words: Words): string {
  return [...words]
    .map(([word, list]) => {
      const condition =
        word === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${word}`
      return `complete -c cloakroom -f -n '${condition}' -a '${list.join(' ')}'\n`
    })
    .join('')
}
