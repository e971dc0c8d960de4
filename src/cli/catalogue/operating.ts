/** Options of commands for the operator of a server. */
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
