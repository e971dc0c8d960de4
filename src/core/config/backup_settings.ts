/** The settings of backups by the clock. */
import { CronPattern } from 'croner'
import { z } from 'zod'
import { list, number, succeeds } from './forms.ts'

export const backupSettings = {
  BACKUP_DIR: z.string().min(1).optional().meta({
    about: 'directory for backups by the clock; without it there are none',
    example: '/backups',
  }),
  BACKUP_SCHEDULE: z
    .string()
    .refine((text) => succeeds(() => new CronPattern(text)), 'must be a pattern of cron')
    .default('30 2 * * *')
    .meta({ about: 'when, as a pattern of cron in UTC', example: '0 */6 * * *' }),
  BACKUP_KEEP: number('a number of files', 1, 10_000)
    .default(7)
    .meta({ about: 'how many of these backups are kept', example: '30' }),
  BACKUP_RECIPIENTS: list
    .refine(
      (keys) => keys.every((key) => /^age1[a-z0-9]+$/.test(key)),
      'must be public keys of age (age1…), separated by commas',
    )
    .default([])
    .meta({
      about: 'public keys of age that they are encrypted to; without one they are not encrypted',
      example: 'age1…',
    }),
}
