/** Asking before something is lost; the questions are loaded when there is one. */
import { CliError } from './cli_error.ts'

/** @throws CliError unless the person or --yes says so */
export async function confirmed(
  { yes }: { yes: boolean | undefined },
  question: string,
): Promise<void> {
  if (yes) return
  const { askConfirmation } = await import('./prompts.ts')
  if (!(await askConfirmation(question))) throw new CliError('not_confirmed', 'nothing was done')
}
