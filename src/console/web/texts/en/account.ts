/** One's own account. */
export const account = {
  title: 'Account',
  current: 'Current password',
  staying: {
    stays: (until: string) =>
      `Your keys stay open in this browser until ${until}, or until you press Lock.`,
    idle: 'Your keys are open until you press Lock, or nobody works here for 15 minutes.',
  },
  password: {
    title: 'Password',
    what: 'It encrypts your keys. With another one all other sessions end; passkeys and the recovery key stay.',
    open: 'Change the password',
    verb: 'Take the new password',
    next: 'New password',
    done: 'The password is changed; all other sessions have ended.',
  },
  sessions: {
    title: 'Sessions',
    what: 'Where you are logged in. One that ends has no keys any more; what it showed, it has shown.',
    current: 'this one',
    unknown: 'an unnamed program',
    browser: (browser: string, system: string | null) =>
      system === null ? browser : `${browser} on ${system}`,
    dates: (since: string, used: string) => `since ${since} · last used ${used}`,
    end: 'End',
    endNamed: (name: string) => `End the session of ${name}`,
    endOthers: (count: number) => `End all ${count} other sessions`,
  },
  recovery: {
    title: 'Recovery key',
    what: 'On paper, it opens the account when the password is lost. A new one makes the earlier one worth nothing.',
    open: 'Make a new recovery key',
    verb: 'Make the recovery key',
  },
  keys: {
    title: 'Keys',
    what: 'New keys are for when somebody else may have yours, as from a lost computer. All workspaces are sealed to them at once.',
    open: 'Replace my keys',
    verb: 'Replace the keys',
    ends: 'All other sessions end, the earlier recovery key is worth nothing any more, passkeys log in and open no keys until you let them again, and what you granted tokens in signed workspaces ends unless kept.',
    kept: 'Tokens that stay',
    keptHelp: 'Who made a token may know it: keep what you issued and trust.',
    token: (label: string, environments: string) =>
      environments === '' ? label : `${label} (${environments})`,
    steps: {
      reading: 'Reading what your keys open',
      sealing: 'Sealing everything to the new keys',
    } as Record<string, string>,
    done: 'Your keys are new; all other sessions have ended.',
    uncertain:
      'The answer was lost, so it is not known whether the server took the new keys. Log out and log in: your password opens whichever there are. Keep both recovery keys until you have made another one.',
    granted: (labels: string) => `Signed again: ${labels}. Revoke what you did not issue.`,
    left: (label: string, reason: string) =>
      `Not signed again: ${label}: ${reason}. What is still needed gets a new token.`,
    rekey: 'Who has the old keys may have the keys of these workspaces. Rekey each:',
  },
  delete: {
    title: 'Delete the account',
    what: 'Nobody can bring it back.',
    open: 'Delete my account',
    verb: 'Delete the account',
    lost: (personal: string, shared: string) =>
      [
        'You lose your keys, passkeys and sessions',
        personal && `the workspace ${personal} with all its secrets`,
        shared && `your place in ${shared}`,
      ]
        .filter(Boolean)
        .join('; ')
        .concat('. Tokens that you granted end.'),
  },
}
