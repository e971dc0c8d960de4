/** First run, registering, logging in, unlocking. */
export const start = {
  title: 'Cloakroom',
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
  kit: {
    title: 'Your recovery key',
    why: 'It is shown once. Print it and keep it where you keep papers: without the password it is the only way back to your secrets.',
    print: 'Print',
    kept: 'I have kept it',
  },
}
