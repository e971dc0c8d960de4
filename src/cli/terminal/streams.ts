/** Standard output and error of the process: their capabilities, and the handling of a closed pipe. */
import { EX_PIPE } from '../../core/exit_codes.ts'
import { type Host, isOwnProcess } from '../host.ts'

type Env = Record<string, string | undefined>

/**
 * Colours are for terminals. `NO_COLOR` removes them and `FORCE_COLOR` adds them to a pipe; where
 * both are set there are none.
 */
export function hasColour(env: Env, isTerminal: boolean): boolean {
  if (env.NO_COLOR || env.FORCE_COLOR === '0' || env.FORCE_COLOR === 'false') return false
  return env.FORCE_COLOR ? true : isTerminal && env.TERM !== 'dumb'
}

/** A reader that has seen enough (`| head`) is no error: the program ends as if the signal had ended it. */
export function endWithReader(host: Host): void {
  if (!isOwnProcess(host)) return
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EX_PIPE)
    throw error
  })
  // Without a reader of remarks the work goes on.
  process.stderr.on('error', () => {})
}

/** Exits the process after all output is written, even if work is running. Returns in a test host. */
export async function endProcess(host: Host, code: number): Promise<number> {
  if (!isOwnProcess(host)) return code
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((done) => stream.end(done))
  }
  return process.exit(code)
}
