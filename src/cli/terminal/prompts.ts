/** Questions to a person. Without a terminal they are errors that name the option to use instead. */
import confirm from '@inquirer/confirm'
import password from '@inquirer/password'
import { fromUtf8 } from '../../platform/crypto/encoding.ts'
import { printable } from '../../platform/printable.ts'
import { type Host, readInput } from '../host.ts'
import { CliError } from './cli_error.ts'

/** Questions are on standard error: standard output may be a pipe. */
const screenOf = ({ streams }: Host) => ({ input: streams.stdin, output: streams.stderr })

/** Something that must not be echoed; twice when it is new. */
export async function askSecret(
  host: Host,
  message: string,
  { isNew = false, hint }: { isNew?: boolean; hint: string },
): Promise<string> {
  demandTerminal(host, hint)
  const screen = screenOf(host)
  const first = await password({ message, mask: false }, screen)
  if (!isNew || first === (await password({ message: 'The same again', mask: false }, screen)))
    return first
  throw new CliError('usage', 'the two were not the same', 'run the command again')
}

export async function askConfirmation(
  host: Host,
  message: string,
  hint = 'confirm with --yes',
): Promise<boolean> {
  demandTerminal(host, hint)
  return confirm({ message: printable(message), default: false }, screenOf(host))
}

/** The first line of standard input. */
export async function readPasswordFromStdin(host: Host): Promise<string> {
  return (await readStdin(host)).replace(/\r?\n[\s\S]*$/, '')
}

/** The lines of standard input. */
export async function readLinesFromStdin(host: Host): Promise<string[]> {
  return (await readStdin(host)).split(/\r?\n/)
}

/** All of standard input, without the end of its last line. */
export async function readValueFromStdin(host: Host): Promise<string> {
  return (await readStdin(host)).replace(/\r?\n$/, '')
}

/** @throws CliError for what is not text, which would not come back as it was */
async function readStdin(host: Host): Promise<string> {
  const text = fromUtf8(await readInput(host))
  if (text !== null) return text
  throw new CliError(
    'usage',
    'standard input is not UTF-8',
    'encode it first, in base64 for example',
  )
}

/** Both ends: a question that nobody sees would wait forever. */
export function hasTerminal({ streams }: Host): boolean {
  return streams.stdin.isTTY === true && streams.stderr.isTTY === true
}

function demandTerminal(host: Host, hint: string): void {
  if (!hasTerminal(host))
    throw new CliError(
      'terminal_required',
      host.streams.stdin.isTTY === true
        ? 'the question cannot be shown: standard error is no terminal'
        : 'there is no terminal to ask on',
      hint,
    )
}
