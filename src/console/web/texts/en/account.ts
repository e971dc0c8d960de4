/** One's own account. */
export const account = {
  title: 'Account',
}
