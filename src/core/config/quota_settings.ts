/** A setting for each quota, from the table in quotas.ts. */
import type { z } from 'zod'
import { number } from './forms.ts'
import { hourlyQuotas, type QuotaConfig, quotas } from './quotas.ts'

const HIGHEST = 1_000_000

function settingOf({ most, what, per }: { most: number; what: string; per: string }) {
  return number('a whole number', 1, HIGHEST)
    .default(most)
    .meta({ about: `most ${what}, for ${per}; beyond it \`quota_exceeded\``, example: `${most}` })
}

type Setting = ReturnType<typeof settingOf>

/** Every name is a setting of the table; `fromEntries` forgets which. */
export const quotaSettings = Object.fromEntries(
  [...Object.values(quotas), ...Object.values(hourlyQuotas)].map((quota) => [
    quota.setting,
    settingOf(quota),
  ]),
) as Record<keyof QuotaConfig, Setting> satisfies Record<string, z.ZodType>
