/** The limits of a token, as people type them. */
import { limitNames, type TokenLimits, UNLIMITED } from '../../core/token_limits.ts'
import type { OptionValues } from '../command.ts'
import type { limitOptions } from '../options.ts'
import { CliError } from '../terminal/cli_error.ts'

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  kb: 1e3,
  m: 1e6,
  mb: 1e6,
  g: 1e9,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
}

/** `--calls-per-day` and the others. @throws CliError `usage` for anything but a positive number */
export function limitsBy(options: OptionValues<typeof limitOptions>): { limits?: TokenLimits } {
  const typed = {
    calls_per_minute: options.callsPerMinute,
    calls_per_day: options.callsPerDay,
    concurrent_calls: options.concurrentCalls,
    bytes_per_day: options.bytesPerDay,
    model_tokens_per_day: options.modelTokensPerDay,
  }
  const limits = { ...UNLIMITED }
  for (const name of limitNames) {
    const text = typed[name]
    if (text !== undefined) limits[name] = amountOf(name, text)
  }
  return Object.values(limits).some((limit) => limit !== null) ? { limits } : {}
}

function amountOf(name: keyof TokenLimits, text: string): number {
  const [, digits = '', unit = ''] = /^(\d[\d_,]*)([a-z]*)$/i.exec(text) ?? []
  const factor = UNITS[unit.toLowerCase()] ?? 0
  const amount = Number(digits.replaceAll(/[_,]/g, '')) * factor
  if (Number.isSafeInteger(amount) && amount >= 1) return amount
  const option = `--${name.replaceAll('_', '-')}`
  const example = name === 'bytes_per_day' ? '100MB' : '1000'
  throw new CliError('usage', `${text} is not an amount`, `give a number: ${option} ${example}`)
}
