/** What the operator of a server does beside it. */
import { command, type Spec } from '../command.ts'

export const backupOptions = [
  ['--recipient <recipient...>', 'encrypt to a public key of age (age1…), or to several'],
] as const
export const restoreOptions = [
  ['--identity <path>', 'file with the private key of age, as age-keygen writes it'],
  ['--force', 'put it in place of the database that is there, which is kept beside'],
] as const
export const moveOptions = [
  ['--to <target>', 'postgres://user@host:port/database, or a directory for the embedded database'],
  ['--dry-run', 'only look: read and count everything, and see whether the target would take it'],
] as const
export const rekeyOuterOptions = [
  ['--batch <count>', 'rows at a time', '100'],
  ['--pause <milliseconds>', 'between two batches, where the database has other work', '0'],
  ['--dry-run', 'only look: read and open everything, and write nothing'],
] as const
export const upgradeOptions = [
  ['--check', 'look, and write nothing: a start does the upgrade itself'],
] as const

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
