/** A token's remaining limits, in words. */
import { limitNames, type TokenLimits, type TokenSpending } from '../../../../core/token_limits.ts'
import { texts } from '../../texts/index.ts'

const words = texts.limits

export type LimitName = keyof TokenLimits

/** The server limits bytes; people count in megabytes. */
export const MEGABYTE = 1_000_000
const unitOf = (name: LimitName) => (name === 'bytes_per_day' ? MEGABYTE : 1)

/** A limit a minute has no counter that is shown. */
const SPENT = {
  calls_per_day: 'calls_today',
  concurrent_calls: 'running',
  bytes_per_day: 'bytes_today',
  model_tokens_per_day: 'model_tokens_today',
} as const satisfies Partial<Record<LimitName, keyof TokenSpending>>

type Limited = { limits: TokenLimits | null; spent: TokenSpending | null }
type Left = { name: LimitName; most: number; left: number }

const figures = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const figure = (name: LimitName, amount: number) => figures.format(amount / unitOf(name))

function leftOf({ limits, spent }: Limited): Left[] {
  return limitNames.flatMap((name) => {
    const most = limits?.[name] ?? null
    if (most === null) return []
    const used = name === 'calls_per_minute' ? 0 : (spent?.[SPENT[name]] ?? 0)
    return [{ name, most, left: Math.max(0, most - used) }]
  })
}

/** Each limit with its name, such as `588 of 1,000 left`. */
export function limitRows(token: Limited): (readonly [label: string, text: string])[] {
  return leftOf(token).map(({ name, most, left }) => {
    const whole = figure(name, most)
    const text = name === 'calls_per_minute' ? whole : words.left(figure(name, left), whole)
    return [words.names[name], text] as const
  })
}

/** The limit that is nearest to its end; null without limits. One a minute has no counter, and comes last. */
export function findTightestLimit(
  tokens: readonly Limited[],
): { text: string; isSpent: boolean } | null {
  const rank = ({ name, left, most }: Left) => (name === 'calls_per_minute' ? 2 : left / most)
  const [first] = tokens.flatMap(leftOf).sort((one, other) => rank(one) - rank(other))
  if (!first) return null
  return {
    text: words.short[first.name](figure(first.name, first.left)),
    isSpent: first.left === 0,
  }
}
