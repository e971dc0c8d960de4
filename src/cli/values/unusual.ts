/**
 * Values that are probably a mistake: an empty one (an unset variable of a shell, `/dev/null` on standard input), and
 * one under a name that steers programs, such as PATH. A person confirms them by name before anything is stored.
 */
import { explainUnsafeVariable } from '../../client/delivery/unsafe_variables.ts'
import { isDeliverable } from '../../core/policy/policy.ts'
import type { Context } from '../context.ts'
import { CliError } from '../terminal/cli_error.ts'
import { confirmOrThrow, formatCount } from '../terminal/confirmed.ts'
import type { Entry } from './sealing.ts'

type Confirmed = { allowEmpty: boolean | undefined; allowEnv: string[] | undefined }

/** @throws CliError `empty_value` or `unsafe_variable`, unless an option or an answer confirms them */
export async function confirmUnusual(
  { host }: Context,
  entries: readonly Entry[],
  { allowEmpty, allowEnv = [] }: Confirmed,
): Promise<void> {
  const empty = entries.filter(({ value }) => value === '').map(({ key }) => key)
  if (empty.length > 0) {
    await confirmOrThrow(
      host,
      allowEmpty === true,
      `Store ${formatCount(empty.length, 'empty value')} (${empty.join(', ')})?`,
      new CliError(
        'empty_value',
        `${formatCount(empty.length, 'value')} would be empty: ${empty.join(', ')}; nothing was stored`,
        'check the source of the value, or pass --allow-empty to store it',
      ),
    )
  }
  const unsafe = entries.flatMap(({ key, policy }) => {
    const reason =
      isDeliverable(policy) && !allowEnv.includes(key) ? explainUnsafeVariable(key) : null
    return reason === null ? [] : [{ key, reason }]
  })
  if (unsafe.length === 0) return
  const lines = unsafe.map(({ key, reason }) => `the variable ${key} ${reason}`)
  await confirmOrThrow(
    host,
    false,
    `${lines.join('; ')}. Store ${unsafe.map(({ key }) => key).join(', ')}?`,
    new CliError(
      'unsafe_variable',
      [...lines, 'nothing was stored'],
      `use another name, or confirm with ${unsafe.map(({ key }) => `--allow-env ${key}`).join(' ')}`,
    ),
  )
}
