/** A setting for each quota, from the table in quotas.ts. */
import type { z } from 'zod'
import { number } from './forms.ts'
import { hourlyQuotas, type QuotaConfig, queueQuotas, quotas } from './quotas.ts'

const HIGHEST = 1_000_000

type Described = { setting: string; most: number; what: string; per: string }

function settingOf({ most, what, per }: Described, beyond: string) {
  return number('a whole number', 1, HIGHEST)
    .default(most)
    .meta({ about: `maximum ${what} per ${per.replace(/^an? /, '')}${beyond}`, example: `${most}` })
}

type Setting = ReturnType<typeof settingOf>

/** `fromEntries` loses the type of the names, which are those of the table. */
export const quotaSettings = Object.fromEntries([
  ...[...Object.values(quotas), ...Object.values(hourlyQuotas)].map((quota) => [
    quota.setting,
    settingOf(quota, ''),
  ]),
  ...Object.values(queueQuotas).map((quota) => [
    quota.setting,
    settingOf(quota, '; more are dropped and logged'),
  ]),
]) as Record<keyof QuotaConfig, Setting> satisfies Record<string, z.ZodType>
