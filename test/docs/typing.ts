/** Types command lines of the documents into a shell. */
import { expect } from 'bun:test'
import type { Run, Terminal } from '../cli/person.ts'

export const PASSPHRASE = { SERVICE_PASSPHRASE: 'of this machine' }

/**
 * Types each line, with the program on the path, after shell code that no page prints. A comment `# prints …` names
 * the output.
 */
export async function typeLines(
  person: Terminal,
  lines: readonly string[],
  before = '',
): Promise<void> {
  for (const line of lines) {
    const ran: Run = await person.shell(`${before}${line}`, PASSPHRASE)
    expect({ line, code: ran.code, err: ran.code === 0 ? '' : ran.err }).toEqual({
      line,
      code: 0,
      err: '',
    })
    const [, output] = /# prints (.*)$/.exec(line) ?? []
    if (output !== undefined) expect({ line, output: ran.out.trimEnd() }).toEqual({ line, output })
  }
}
