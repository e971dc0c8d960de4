/** Words that all screens share. */
export const common = {
  appName: 'Cloakroom',
  loading: 'Loading',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  lock: 'Lock',
  logOut: 'Log out',
  copy: 'Copy',
  copied: 'Copied',
  copyNamed: (name: string) => `Copy ${name}`,
  reveal: 'Show',
  revealNamed: (name: string) => `Show ${name}`,
  hide: 'Hide',
  hideNamed: (name: string) => `Hide ${name}`,
  notFound: 'There is nothing at this address',
  toStart: 'To your workspaces',
}
