/** Words that all screens share. */
export const common = {
  appName: 'Cloakroom',
  loading: 'Loading',
  cancel: 'Cancel',
  close: 'Close',
  lock: 'Lock',
  logOut: 'Log out',
  copy: 'Copy',
  copied: 'Copied',
  notFound: 'There is nothing at this address',
  toStart: 'To your workspaces',
}
