/** Shared by the operator's commands: the output for invalid settings, and for the counts of a backup. */
import { EX_CONFIG } from '../core/exit_codes.ts'
import { complaints } from '../core/printable.ts'
import { type backUp, ConfigError, problemIn } from '../operator/backup/index.ts'
import { RekeyProblem } from '../operator/rekey_outer/index.ts'
import type { Host } from './host.ts'
import { CliError } from './terminal/cli_error.ts'

export async function runExplained(
  { streams }: Host,
  work: () => Promise<number | undefined>,
): Promise<number | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ConfigError) {
      streams.stderr.write(complaints(error.problems))
      return EX_CONFIG
    }
    if (error instanceof RekeyProblem) throw new CliError('failed', error.message)
    const problem = problemIn(error)
    throw problem === null ? error : new CliError(problem.code, problem.message, problem.hint)
  }
}

type Sums = Awaited<ReturnType<typeof backUp>>

export function countOf(sums: Sums): string {
  const rows = Object.values(sums).reduce((sum, { rows }) => sum + rows, 0)
  return `${rows} rows of ${Object.keys(sums).length} tables`
}
