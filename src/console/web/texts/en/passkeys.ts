/** Passkeys: logging in and unlocking by them, and the list of one's own. */
export const passkeyTexts = {
  title: 'Passkeys',
  what: 'A passkey logs you in with your device instead of the password. The password and the recovery key stay.',
  none: 'You have no passkey yet.',
  signIn: 'Sign in with a passkey',
  orPassword: 'or use your password',
  unlock: 'Unlock with a passkey',
  add: 'Add a passkey',
  label: 'Name',
  labelHelp: 'By which you will know it, such as the device that it is on.',
  password: 'Your password',
  passwordHelp: 'It is asked for, so that nobody who finds this page open can add one.',
  unlocks: 'Logs in and unlocks',
  logsIn: 'Logs in; the password unlocks',
  letUnlock: 'Let it unlock',
  elsewhere: (host: string) => `For ${host}`,
  added: (date: string) => `Added ${date}`,
  used: (date: string) => `last used ${date}`,
  neverUsed: 'never used',
  rename: 'Rename',
  save: 'Save',
  remove: 'Remove',
  removing: (label: string) =>
    `Remove ${label}? It will log nobody in any more, and every session that it opened ends, this one too if it did. Your device may go on to offer it until you remove it there too.`,
  unavailable:
    'There are no passkeys here: they need https, or localhost, an address with a name, and a server that is set up for them at this address.',
}
