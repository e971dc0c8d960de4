/** To what a token is narrowed. */
export const narrowingOptions = [
  ['--host <host...>', 'of use for these hosts only, such as api.anthropic.com'],
  ['--secret <name...>', 'of use for these secrets only'],
] as const
