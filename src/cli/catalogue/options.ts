/** Options that several commands share. */

export const yes = ['-y, --yes', 'do not ask'] as const
export const allowEmpty = [
  '--allow-empty',
  'go on although only other environments have secrets',
] as const
export const acceptChanged = [
  '--accept-changed-keys',
  'accept public keys that differ from those seen before',
] as const
export const lifetime = [
  ['--label <text>', 'a label for the token'],
  ['--expires-in-days <days>', '1 to 3650, or never (90 unless given)'],
] as const
export const range = [
  ['--since <time>', 'from this ISO 8601 time on'],
  ['--until <time>', 'before this ISO 8601 time'],
] as const
export const filters = [
  ['--agent <name>', 'only this agent, by name or id'],
  ['--domain <name>', 'only requests to this domain'],
  ['--method <method>', 'only this method'],
  ['--status <code>', 'only this status'],
  ...range,
] as const
