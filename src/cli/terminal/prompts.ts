/** Questions to a person. Without a terminal they are errors that name the option to use instead. */
import confirm from '@inquirer/confirm'
import password from '@inquirer/password'
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import { printable } from '../../core/printable.ts'
import { type Host, readInput } from '../host.ts'
import { CliError } from './cli_error.ts'

/** Questions are on standard error: standard output may be a pipe. */
const screenOf = ({ streams }: Host) => ({ input: streams.stdin, output: streams.stderr })

type SecretQuestion = {
  /** Asked twice: a mistyped one would be lost. */
  isNew?: boolean
  hint: string
  /** The problem with an answer, as a sentence; `null` accepts it. */
  faultOf?: (answer: string) => string | null | Promise<string | null>
}

/** Asks for something that must not be echoed. @throws CliError without a terminal */
export async function askSecret(
  host: Host,
  message: string,
  { hint, ...question }: SecretQuestion,
): Promise<string> {
  demandTerminal(host, hint)
  const screen = screenOf(host)
  const ask = (text: string) => password({ message: text, mask: false }, screen)
  const say = (text: string) => void host.streams.stderr.write(`${printable(text)}\n`)
  return askUntilValid(ask, say, { message, ...question })
}

/** Explains an answer that is not valid and asks again, until Ctrl-C ends the question. */
export async function askUntilValid(
  ask: (question: string) => Promise<string>,
  say: (fault: string) => void,
  {
    message,
    isNew = false,
    faultOf = () => null,
  }: Omit<SecretQuestion, 'hint'> & { message: string },
): Promise<string> {
  while (true) {
    const answer = await ask(message)
    const fault = await faultOf(answer)
    if (fault === null && (!isNew || answer === (await ask('Repeat it')))) return answer
    say(fault ?? 'The two answers differ. Try again.')
  }
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

/** @throws CliError for invalid text, which would be changed */
async function readStdin(host: Host): Promise<string> {
  const text = fromUtf8(await readInput(host))
  if (text !== null) return text
  throw new CliError(
    'usage',
    'standard input is not UTF-8',
    'encode it first, for example with base64',
  )
}

/** Requires both: an invisible question would wait forever. */
export function hasTerminal({ streams }: Host): boolean {
  return streams.stdin.isTTY === true && streams.stderr.isTTY === true
}

function demandTerminal(host: Host, hint: string): void {
  if (!hasTerminal(host))
    throw new CliError(
      'terminal_required',
      host.streams.stdin.isTTY === true
        ? 'the question cannot be shown: standard error is not a terminal'
        : 'the question needs a terminal',
      hint,
    )
}
