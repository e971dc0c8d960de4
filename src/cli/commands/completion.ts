/** `cloakroom completion`: scripts that make shells ask `cloakroom __complete`. */
import type { Action } from '../command.ts'
import { scripts } from '../completion/scripts.ts'
import { shells } from '../completion/sources.ts'
import { CliError } from '../terminal/cli_error.ts'

export const completion: Action = async (context, [named = '']) => {
  const shell = shells.find((candidate) => candidate === named)
  if (!shell) throw new CliError('usage', `the shell must be one of ${shells.join(', ')}`)
  context.output.raw(scripts[shell])
  return undefined
}
