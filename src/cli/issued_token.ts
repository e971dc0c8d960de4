/** What all ways of issuing a token have in common. */

import { type Capability, capabilities } from '../platform/capability.ts'
import type { tokenOptions } from './catalogue/options.ts'
import type { OptionValues } from './command.ts'
import type { Context } from './context.ts'
import { CliError } from './terminal/cli_error.ts'

/** `--label`, `--may`, and `--expires-in-days`, of which `never` is none. */
export function orderOf({ label, expiresInDays, may }: OptionValues<typeof tokenOptions>): {
  label?: string
  expires_in_days?: number | null
  capabilities?: Capability[]
} {
  if (
    expiresInDays !== undefined &&
    expiresInDays !== 'never' &&
    !/^\d{1,4}$/.test(expiresInDays)
  ) {
    throw new CliError('usage', '--expires-in-days is a number of days, or never')
  }
  return {
    ...(label === undefined ? {} : { label }),
    ...(expiresInDays === undefined
      ? {}
      : { expires_in_days: expiresInDays === 'never' ? null : Number(expiresInDays) }),
    ...(may === undefined ? {} : { capabilities: capabilitiesOf(may) }),
  }
}

/** In the order that the server takes, whichever was typed. */
function capabilitiesOf(may: string): Capability[] {
  const named = may.split(',').map((word) => word.trim())
  if (named.every((word) => capabilities.some((known) => known === word)))
    return capabilities.filter((known) => named.includes(known))
  throw new CliError('usage', '--may is use, read or use,read')
}

/** Shows a token the only time that anybody will. */
export function showToken(context: Context, token: string, about: Record<string, unknown>): void {
  const { isJson, isQuiet } = context.output
  if (isJson || isQuiet) {
    context.output.record({ ...about, token }, token)
    return
  }
  context.output.record(about)
  context.output.warn('The token, shown this once; the server has never seen it:')
  context.output.raw(`${token}\n`)
}
