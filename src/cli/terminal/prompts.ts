/** Questions to a person. Without a terminal they are errors that name the option to use instead. */
import confirm from '@inquirer/confirm'
import password from '@inquirer/password'
import { fromUtf8 } from '../../platform/crypto/encoding.ts'
import { printable } from '../../platform/printable.ts'
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
  throw new CliError('usage', 'the two were not the same', 'run the command again')
}

export async function askConfirmation(
  message: string,
  hint = 'confirm with --yes',
): Promise<boolean> {
  demandTerminal(hint)
  return confirm({ message: printable(message), default: false }, ON_STDERR)
}

/** The first line of standard input. */
export async function readPasswordFromStdin(): Promise<string> {
  return (await readStdin()).replace(/\r?\n[\s\S]*$/, '')
}

/** The lines of standard input. */
export async function readLinesFromStdin(): Promise<string[]> {
  return (await readStdin()).split(/\r?\n/)
}

/** All of standard input, without the end of its last line. */
export async function readValueFromStdin(): Promise<string> {
  return (await readStdin()).replace(/\r?\n$/, '')
}

/** @throws CliError for what is not text, which would not come back as it was */
async function readStdin(): Promise<string> {
  const text = fromUtf8(await Bun.stdin.bytes())
  if (text !== null) return text
  throw new CliError(
    'usage',
    'standard input is not UTF-8',
    'encode it first, in base64 for example',
  )
}

export function hasTerminal(): boolean {
  return process.stdin.isTTY === true
}

function demandTerminal(hint: string): void {
  if (!hasTerminal())
    throw new CliError('terminal_required', 'there is no terminal to ask on', hint)
}
