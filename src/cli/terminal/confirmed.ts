/** Asking before something is lost; the questions are loaded when there is one. */
import type { Host } from '../host.ts'
import { CliError } from './cli_error.ts'

/** `2 agents`, `1 agent`. */
export function formatCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** `3 projects, 2 agents and 1 member`, without kinds that have no items. */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).flatMap(([what, count]) =>
    count > 0 ? formatCount(count, what) : [],
  )
  return new Intl.ListFormat('en-GB').format(parts)
}

/** The question may first load what would be lost. @throws CliError unless the person or --yes confirms */
export async function requireConfirmation(
  host: Host,
  { yes }: { yes: boolean | undefined },
  question: string | (() => Promise<string>),
): Promise<void> {
  if (yes) return
  const { askConfirmation } = await import('./prompts.ts')
  const asked = typeof question === 'string' ? question : await question()
  if (!(await askConfirmation(host, asked))) throw new CliError('not_confirmed', 'nothing was done')
}

/** Asks on a terminal only: a script goes on without --yes. @throws CliError for another answer than yes */
export async function requireConfirmationOnTerminal(
  host: Host,
  { yes }: { yes: boolean | undefined },
  question: string,
): Promise<void> {
  if (yes || !(await import('./prompts.ts')).hasTerminal(host)) return
  await requireConfirmation(host, { yes }, question)
}

/** Asks on a terminal. @throws `refusal` without a terminal; CliError unless the answer is yes */
export async function confirmOrThrow(
  host: Host,
  yes: boolean,
  question: string,
  refusal: CliError,
): Promise<void> {
  if (yes) return
  const { askConfirmation, hasTerminal } = await import('./prompts.ts')
  if (!hasTerminal(host)) throw refusal
  if (!(await askConfirmation(host, question)))
    throw new CliError('not_confirmed', 'nothing was done')
}
