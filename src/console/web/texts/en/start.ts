/** First run, registering, logging in, unlocking. */
export const start = {
  register: 'Make an account',
  logIn: 'Log in',
  unlock: 'Unlock',
  email: 'E-mail address',
  password: 'Password',
  passwordHelp:
    'It never leaves this browser, and encrypts your keys: nobody can reset it for you.',
  deriving:
    'Deriving your keys from the password. This takes a second, so that guessing takes years.',
  haveAccount: 'I have an account',
  needAccount: 'I need an account',
  lostPassword: 'I lost my password',
  otherWays: 'Other ways in',
  ended:
    'Your session has ended: it expired, or was ended elsewhere, as by a new password. What was not saved here was not done. Log in again to go on.',
  locked: {
    idle: 'Locked after 15 minutes without use. What was not saved was not done.',
    time: 'Locked: the time for which you kept the keys open is over.',
    tab: 'Locked in another tab of this browser.',
    unreached:
      'Your keys are locked, but the server could not be told that your session ends. Unlock and log out again, or end it in your account from elsewhere.',
  },
  away: 'The server does not answer as it should',
  closed:
    'Nobody can register on this installation now. Ask its operator (the setting is REGISTRATION).',
  owner:
    'This installation is new: the first account becomes its owner, who looks after it and sees no secrets of others.',
  ownerCode: 'Owner code',
  ownerCodeHelp: 'The operator set it as OWNER_CODE, so that nobody else comes first.',
  recover: 'Recover your account',
  recovering:
    'Your recovery key opens your keys once more. You choose a new password, all sessions end, and you get the next recovery key.',
  newPassword: 'New password',
  recoveryKey: 'Recovery key',
  recoveryKeyHelp: '64 characters from 0 to 9 and a to f; spaces and dashes do not matter.',
  staying: {
    label: 'Keep the keys open',
    idle: 'Until nobody works for 15 minutes',
    day: 'For 8 hours',
    week: 'For 7 days',
    what: 'Whoever can use this browser until then can use your keys. They lie here under a key that no page can read, and Lock removes them.',
  },
  kit: {
    title: 'Your recovery key',
    why: 'It is shown once. Print it and keep it where you keep papers: without the password it is the only way back to your secrets.',
    account: 'Account',
    server: 'Server',
    made: 'Made',
    useTitle: 'If you lose your password',
    use: (address: string) => [
      `Open ${address}, or run: cloakroom recover`,
      'Type your address and this key, and choose a new password.',
      'Throw this page away: you get a new key, and this one is worth nothing any more.',
    ],
    print: 'Print',
    kept: 'I have kept it',
  },
}
