/** Options that narrow a token to hosts and secrets. */
export const narrowingOptions = [
  ['--host <domain...>', 'limit the token to these hosts, such as api.anthropic.com'],
  ['--secret <secret...>', 'limit the token to these secrets'],
] as const
/** Beside them, where the token is issued. */
export const allowUnknown = [
  '--allow-unknown',
  'accept a host or secret that does not exist',
] as const
