/** Writes docs/reference/limits.md: `bun src/dev/limits_docs.ts`. A test fails while it is stale. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeConfig } from '../core/config/config.ts'
import { hourlyQuotas, queueQuotas, quotas } from '../core/config/quotas.ts'
import { limits, type Unit } from './limits.ts'

export const LIMITS_DOCS = join(import.meta.dir, '../../docs/reference/limits.md')
const SOURCE = join(import.meta.dir, '..')

const HEAD = `<!-- Written by src/dev/limits_docs.ts from the code: do not edit. -->

# Limits

All quotas, rates, sizes and times in numbers. Defaults with a setting can be changed by the [server's operator](settings.md).

## Quotas

Requests beyond a quota fail with \`quota_exceeded\`.`

const BEFORE_RATES = `## Rates

Requests beyond a rate fail with \`rate_limited\` and a Retry-After header. A network is one IPv4 address or an IPv6 /64. [Tokens](../guides/access.md) can have additional limits.`

export function renderLimitsDocs(): string {
  const all = [
    ...Object.values(quotas),
    ...Object.values(hourlyQuotas),
    ...Object.values(queueQuotas),
  ]
  const quotaRows = all.map(({ what, per, setting, most }) => [
    `${what} per ${per.replace(/^an? /, '')}`,
    formatDigits(most),
    `\`${setting}\``,
  ])
  const rateRows = describeConfig()
    .filter(({ name }) => name.startsWith('RATE_'))
    .map(({ name, about, fallback }) => [about, perTime(fallback), `\`${name}\``])
  const sections = Object.entries(limits).map(
    ([heading, rows]) =>
      `## ${heading}\n\n${tableOf(
        ['limit', 'value'],
        rows.map(([what, ...rest]) => [what, valueText(...rest)]),
      )}`,
  )
  const parts = [
    HEAD,
    tableOf(['limit', 'default', 'setting'], quotaRows),
    BEFORE_RATES,
    tableOf(['requests', 'default', 'setting'], rateRows),
    ...sections,
  ]
  return `${parts.join('\n\n')}\n`
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => cells.join(' | ')
  return [line(head), head.map(() => '---').join('|'), ...rows.map(line)].join('\n')
}

function perTime(rate: string): string {
  const [count, seconds] = rate.split('/').map(Number)
  return `${formatDigits(count ?? 0)} per ${formatUnit(seconds ?? 0, 'seconds')}`.replace(
    / per 1 (\w+)/,
    ' per $1',
  )
}

function valueText(place: string, unit: Unit | null = null, after?: string): string {
  const text = formatUnit(readNumber(place), unit)
  return after === undefined ? text : `${text}, ${after}`.replace(', levels', ' levels')
}

/** @throws Error for a number that is not in the file, or there with different values */
export function readNumber(place: string): number {
  const [file = '', find = ''] = place.split(/#(.*)/)
  const text = readFileSync(join(SOURCE, file), 'utf8')
  const pattern = /^[A-Z_]+$/.test(find) ? `const ${find} = ([\\d_ *]+)$` : find
  const found = [...text.matchAll(new RegExp(pattern, 'gm'))]
  const values = new Set(found.map(([, number = '']) => product(number)))
  const [value] = values
  if (value === undefined || values.size > 1) throw new Error(`${place} is not a single number`)
  return value
}

const product = (expression: string) =>
  expression
    .split('*')
    .map((factor) => Number(factor.replaceAll('_', '')))
    .reduce((one, other) => one * other, 1)

const formatDigits = (value: number) => value.toLocaleString('en')

const SECONDS = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const

function formatUnit(value: number, unit: Unit | null): string {
  if (unit === null) return formatDigits(value)
  if (unit === 'bytes') return formatBytes(value)
  if (unit === 'milliseconds') return formatUnit(value / 1_000, 'seconds')
  if (unit !== 'seconds') return plural(value, unit)
  const [largest = 'seconds'] =
    Object.entries(SECONDS).find(([, size]) => value >= size && value % size === 0) ?? []
  return plural(value / SECONDS[largest as keyof typeof SECONDS], largest)
}

const plural = (value: number, unit: string) =>
  `${formatDigits(value)} ${value === 1 ? unit.slice(0, -1) : unit}`

function formatBytes(value: number): string {
  const MIB = 1_048_576
  if (value % MIB === 0) return `${value / MIB} MiB`
  return value % 1_024 === 0 ? `${value / 1_024} KiB` : `${formatDigits(value)} bytes`
}

if (import.meta.main) await Bun.write(LIMITS_DOCS, renderLimitsDocs())
