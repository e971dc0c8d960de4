/** The page of the owner of the installation. */
export const instanceTexts = {
  title: 'Instance',
  onlyOwner: 'Only the owner of this installation sees its state.',
  onlyOwnerHelp: 'That is who made its first account.',
  health: 'Health',
  checks: { database: 'Database', cache: 'Cache', encryption: 'Encryption' },
  healthy: 'works',
  unhealthy: 'does not work',
  latency: (ms: number) => `${ms.toFixed(1)} ms`,
  version: 'Version',
  running: 'Running since',
  database: 'Database',
  databases: { embedded: 'embedded PostgreSQL', postgresql: 'PostgreSQL' },
  size: 'Size of the database',
  migration: 'Newest migration',
  settings: 'Settings',
  registration: 'Registration',
  registrations: {
    open: 'anybody may register',
    first: 'only the first account may register',
    closed: 'nobody may register',
  },
  workers: 'Processes',
  retention: 'Audit is kept',
  days: (days: number | null) =>
    days === null ? 'for good' : `for ${days === 1 ? 'a day' : `${days} days`}`,
  seenState: 'Remembers the state of signed workspaces outside of the database',
  yes: 'yes',
  no: 'no',
  metrics: 'By day',
  calls: 'Calls of agents',
  allowedCalls: 'Allowed',
  blockedCalls: 'Refused',
  people: 'People at work',
  callsText: (calls: number, blocked: number) =>
    `${calls} calls in the days shown, ${blocked} of them blocked.`,
  peopleText: (total: number, secrets: number) =>
    `${total === 1 ? 'One person' : `${total} people`} and ${secrets === 1 ? 'one secret' : `${secrets} secrets`} on the newest day.`,
  noMetrics: 'There are no figures yet.',
  noMetricsHelp: 'They are computed once a day; that can be done at once on the admin listener.',
  backups: 'Backups',
  backupText:
    'A backup has the database, and not the two keys of the server, which are kept elsewhere. It is made on the machine of the server, at once by this line, or by the clock where BACKUP_DIR is set:',
  backupCommand: 'cloakroom backup FILE',
  noBackup: 'No backup is recorded by this instance.',
  lastBackup: (at: string) => `The newest backup that is recorded is of ${at}.`,
  backupFailed: (at: string) =>
    `The backup of ${at} failed. The log of the server says why; nothing older was removed for it.`,
  upgrade: 'Upgrade',
  current: (version: string, migration: string) =>
    `This is version ${version}. Its database is up to date (${migration}); no migration is pending.`,
  upgradeText:
    'A new version is another executable or image in the place of this one. Make a backup first: the database is brought up to date as it starts, and older versions do not go back.',
  docs: 'Both are in docs/operations.md, step by step.',
}
