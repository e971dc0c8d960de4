/** The list of workspaces. */
export const workspaces = {
  title: 'Workspaces',
}
