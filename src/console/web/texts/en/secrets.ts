/** Secrets: the table, editing, policies. */
export const secrets = {
  title: 'Secrets',
  project: 'Project',
  environment: 'Environment',
  name: 'Name',
  value: 'Value',
  add: 'Add a secret',
  noProjects: 'This workspace has no project yet.',
  none: 'Nothing is stored here yet.',
}
