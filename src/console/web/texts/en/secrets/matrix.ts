/** The table of a project's secrets by environment. */
import { secretCount } from '../counts.ts'

/** Names that are written short where the column is narrow. */
const SHORT: Record<string, string> = { development: 'dev', production: 'prod' }
const shortenEnvironment = (name: string) => SHORT[name] ?? name

export const matrixTexts = {
  title: 'Secrets',
  project: (name: string) => `Project: ${name}`,
  readOnly: 'Read-only role',
  add: 'Add secret',
  import: 'Import .env',
  compare: 'Compare',
  deleted: 'Deleted secrets',
  newEnvironment: 'New environment',
  newProject: 'New project',

  label: 'Secrets by environment',
  name: 'Name',
  find: 'Filter by name',
  findAmong: (count: number) => `Filter ${secretCount(count)}`,
  filters: 'Filters',
  moreFilters: 'More filters',
  filter: {
    all: 'All',
    missing: 'Missing',
    different: 'Different',
    approval: 'Needs approval',
    renewing: 'Renewing',
    reconnect: 'Reconnect',
    unreadable: 'Can’t decrypt',
    unused: 'Unused 30 d',
  },
  noMatches: 'No secrets match.',
  showAll: 'Show all secrets',
  notVerified: (environment: string) => `${environment} failed verification and is hidden.`,

  cell: (key: string, environment: string) => `${key} in ${environment}`,
  masked: '••••••••',
  version: (version: number) => `v${version}`,
  sameAs: (environment: string) => `same as ${shortenEnvironment(environment)}`,
  sameOnPhone: (environment: string) => `Same as ${environment}`,
  missing: 'Missing',
  unreadable: 'Can’t decrypt',
  renews: 'renews',
  renewal: {
    new: 'Renews with the first call',
    valid: (until: string) => `Renews. Valid until ${until}`,
    expired: 'Renews with the next call',
    retrying: 'Retrying',
    reconnect: 'Reconnect',
  },
  edit: 'Edit value',
  copyValue: 'Copy value',
  copied: (key: string) =>
    `${key} copied. It stays in the clipboard until you copy something else.`,
  saved: (key: string, environment: string) => `${key} saved in ${environment}.`,
  newValueOf: (key: string, environment: string) => `New value of ${key} in ${environment}`,
  showIn: (key: string, environment: string) => `Show ${key} in ${environment} (F2)`,
  fieldHelp: 'Enter to save · Tab for next · Esc to cancel',
  environments: 'Environment',
  phoneEnvironment: (name: string) => {
    const short = shortenEnvironment(name)
    return short.charAt(0).toUpperCase() + short.slice(1)
  },

  noProjects: 'Create a project to add secrets.',
  none: 'No secrets in this project yet.',
  noneYours: 'No secrets in this project yet. Members can add them.',

  selected: (count: number) => `${count} selected`,
  selection: 'Selected secrets',
  clearSelection: 'Clear selection',
  copyTo: 'Copy to…',
  setPolicies: 'Set policies…',
  remove: 'Delete…',
}
