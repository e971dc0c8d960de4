/** The settings of scheduled backups. */
import { CronPattern } from 'croner'
import { z } from 'zod'
import { list, number, succeeds } from './forms.ts'

export const backupSettings = {
  BACKUP_DIR: z.string().min(1).optional().meta({
    about: 'directory for scheduled backups. Unset: no scheduled backups',
    example: '/backups',
  }),
  BACKUP_SCHEDULE: z
    .string()
    .refine((text) => succeeds(() => new CronPattern(text)), 'must be a cron expression')
    .default('30 2 * * *')
    .meta({ about: 'backup schedule as a cron expression in UTC', example: '0 */6 * * *' }),
  BACKUP_KEEP: number('a number of files', 1, 10_000)
    .default(7)
    .meta({ about: 'number of scheduled backups to keep', example: '30' }),
  BACKUP_RECIPIENTS: list
    .refine(
      (keys) => keys.every((key) => /^age1[a-z0-9]+$/.test(key)),
      'must be age public keys (age1…), separated by commas',
    )
    .default([])
    .meta({
      about: 'age public keys that encrypt scheduled backups. Unset: unencrypted',
      example: 'age1…',
    }),
}
