/** Questions to a person. Without a terminal they are errors that name the option to use instead. */
import confirm from '@inquirer/confirm'
import password from '@inquirer/password'
import { EX_USAGE } from '../../platform/exit_codes.ts'
import { CliError } from './cli_error.ts'

const ON_STDERR = { output: process.stderr }

/** Something that must not be echoed; twice when it is new. */
export async function askSecret(
  message: string,
  { isNew = false, hint }: { isNew?: boolean; hint: string },
): Promise<string> {
  demandTerminal(hint)
  const first = await password({ message, mask: false }, ON_STDERR)
  if (!isNew || first === (await password({ message: 'The same again', mask: false }, ON_STDERR)))
    return first
  throw new CliError(EX_USAGE, 'the two were not the same', 'run the command again')
}

export async function askConfirmation(message: string): Promise<boolean> {
  demandTerminal('confirm with --yes')
  return confirm({ message, default: false }, ON_STDERR)
}

/** The first line of standard input. */
export async function readSecretFromStdin(): Promise<string> {
  const text = await Bun.stdin.text()
  return text.replace(/\r?\n[\s\S]*$/, '')
}

function demandTerminal(hint: string): void {
  if (!process.stdin.isTTY) throw new CliError(EX_USAGE, 'there is no terminal to ask on', hint)
}
