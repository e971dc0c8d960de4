/** What the operator of a server does beside it. */
import { command, type Spec } from '../command.ts'
import {
  backupOptions,
  moveOptions,
  rekeyOuterOptions,
  restoreOptions,
  upgradeOptions,
} from './operating.ts'

export const serverSpecs: readonly Spec[] = [
  command({
    usage: 'backup <path>',
    about: "write the server's database to a file, also while it runs",
    examples: ['backup /backups/cloakroom.backup', 'backup --recipient age1… cloakroom.backup'],
    options: backupOptions,
    action: async () => (await import('../commands/operator/backup.ts')).backup,
  }),
  command({
    usage: 'restore <path>',
    about: 'restore a backup while the server is stopped',
    examples: [
      'restore /backups/cloakroom.backup',
      'restore --identity key.txt cloakroom.backup',
      'restore --force cloakroom.backup',
    ],
    options: restoreOptions,
    action: async () => (await import('../commands/operator/backup.ts')).restoreBackup,
  }),
  command({
    usage: 'move',
    about: 'move the stopped server to PostgreSQL, or back to the embedded database',
    examples: [
      'move --to postgres://cloakroom@db.internal/cloakroom --dry-run',
      'move --to postgres://cloakroom@db.internal/cloakroom',
      'move --to /var/lib/cloakroom',
    ],
    options: moveOptions,
    action: async () => (await import('../commands/operator/backup.ts')).moveDatabase,
  }),
  command({
    usage: 'doctor',
    about: 'check server, settings and data for problems; exit code 0, 1 or 78',
    examples: ['doctor', 'doctor --json'],
    action: async () => (await import('../commands/operator/doctor.ts')).doctor,
  }),
  command({
    usage: 'rekey-outer',
    about: 'reseal stored data with the first ENCRYPTION_KEY, while the server runs',
    examples: ['rekey-outer --dry-run', 'rekey-outer', 'rekey-outer --batch 50 --pause 200'],
    options: rekeyOuterOptions,
    action: async () => (await import('../commands/operator/rekey_outer.ts')).rekey,
  }),
  command({
    usage: 'upgrade',
    about: 'show what the next start will change in the database; exit code 0, 1 or 2',
    examples: ['upgrade --check', 'upgrade --check --json'],
    options: upgradeOptions,
    action: async () => (await import('../commands/operator/upgrade.ts')).upgrade,
  }),
]
