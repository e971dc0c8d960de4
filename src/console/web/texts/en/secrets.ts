/** Secrets: the matrix, editing, files, versions. Policies have their own. */
import { dayCount, secretCount } from './counts.ts'

export const secrets = {
  title: 'Secrets',
  project: 'Project',
  environment: 'Environment',
  name: 'Name',
  nameHelp: 'Letters, digits and _, as programs name variables.',
  badName: 'At most 128 letters, digits and _; it does not begin with a digit.',
  value: 'Value',
  add: 'Add a secret',
  find: 'Find by name',
  show: 'Show',
  shown: {
    all: 'All',
    missing: 'Missing somewhere',
    differing: 'Different values',
    same: 'Same value everywhere',
    old: 'Not changed for 90 days',
    unreadable: 'Does not open',
  },
  counted: (shown: number, all: number) =>
    shown === all ? secretCount(all) : `${shown} of ${secretCount(all)}`,
  legend: 'The same letter in a row is the same value. Values were compared in this browser.',
  legendWriting:
    'Enter, F2 or a double click on a cell types a value into it; Space or a click opens what there is of it.',
  readOnly:
    'Your role in this workspace is read-only: you see everything, and change nothing. An owner or admin can give you another role.',
  newValueOf: (key: string, environment: string) => `New value of ${key} in ${environment}`,
  showIn: (key: string, environment: string) => `Show ${key} in ${environment} (F2)`,
  fieldHelp: 'Enter stores, Tab stores and goes on, Esc gives up.',
  matrix: 'Secrets by environment',
  notVerified: (environment: string) =>
    `${environment} is not what members of this workspace signed, and is left alone`,
  noneShown: 'No secret is like that.',
  missing: 'missing',
  unreadable: 'does not open',
  more: 'More ▾',
  moreName: 'More',
  setting: 'a setting',
  today: 'today',
  days: (days: number) => `${days} d`,
  cellMissing: (key: string, environment: string) => `${key} is missing in ${environment}: set it`,
  select: (key: string) => `Select ${key}`,

  noProjects: 'This workspace has no project yet',
  noProjectsHelp:
    'A project holds the secrets of one thing that you build, by environment: development, staging, production.',
  newProject: 'New project',
  projectName: 'Name of the project',
  makeProject: 'Make the project',
  projectMade: (name: string) => `${name} is there.`,
  newEnvironment: 'New environment',
  environmentName: 'Name of the environment',
  makeEnvironment: 'Make the environment',
  none: 'Nothing is stored here yet',
  noneHelp:
    'Add a secret, or paste a .env file. Values are encrypted in this browser before they are sent.',

  inEnvironment: (key: string, environment: string) => `${key} in ${environment}`,
  isMissing: 'It is not stored in this environment yet.',
  inShort: (version: number, when: string) => `v${version} · ${when}`,
  changedAt: (version: number, days: number) =>
    `Version ${version}, changed ${days === 0 ? 'today' : `${dayCount(days)} ago`}`,
  newValue: 'New value',
  valueHelp: 'Multiple lines are taken as they are.',
  showTyped: 'Show what I type',
  isSetting: 'A setting: neither masked in output nor guarded',
  save: 'Save',
  saved: (key: string, environment: string) => `${key} is stored in ${environment}.`,
  tabs: { value: 'Value', versions: 'Versions', policy: 'Policy' },
  remove: 'Delete',
  removeTitle: (count: number, environment: string) =>
    `Delete ${secretCount(count)} from ${environment}?`,
  removeLoss: (keys: readonly string[]) =>
    `Lost: ${listed(keys)}, with all earlier versions. Programs and agents that use them fail from now on. For 7 days they can be restored.`,
  removed: (count: number, environment: string) =>
    `${secretCount(count)} deleted from ${environment}.`,
  notRestored: 'They were not restored. Look among the deleted.',
  restored: (count: number) => `${secretCount(count)} restored.`,

  import: 'Paste a .env file',
  importHelp: 'Paste it here, or drop a file on this field. It is read in this browser.',
  importText: 'Lines as NAME=value',
  chooseFile: 'Choose a file',
  notText: 'This file is not UTF-8 text.',
  preview: 'See what would change',
  line: (line: number, reason: string) => `Line ${line}: ${reason}`,
  nothingStored: 'Nothing is stored until each line can be read.',
  repeated: (keys: readonly string[]) => `More than once, the last value counts: ${listed(keys)}`,
  changes: { new: 'new', value: 'other value', policy: 'other policy', same: 'same' },
  change: 'Change',
  changeList: 'What would change',
  take: (key: string) => `Store ${key}`,
  store: (count: number) => (count === 0 ? 'Nothing to store' : `Store ${count}`),
  stored: (created: number, updated: number, environment: string) =>
    `${environment}: ${created} created, ${updated} updated.`,

  selected: (count: number) => `${count} selected`,
  selectShown: 'Select all shown',
  clearSelection: 'Clear',
  bulkIn: 'In environment',
  copyTo: 'Copy to …',
  copyTitle: (count: number, from: string) => `Copy ${secretCount(count)} from ${from}`,
  copyTarget: 'To environment',
  setPolicies: 'Set policy …',

  versionsOf: 'Earlier versions, newest first',
  version: 'Version',
  by: 'Stored by',
  gone: 'somebody who is gone',
  at: 'When',
  now: 'in use',
  sameAsNow: 'same as in use',
  rollBack: 'Roll back',
  rollBackTitle: (key: string, version: number) => `Roll ${key} back to version ${version}?`,
  rollBackLoss: (words: string) =>
    `The value and the policy of then become the newest version${words ? ` (${words})` : ' (no limits)'}. What is in use now stays among the versions.`,
  rolledBack: (key: string, version: number) => `${key} is back to version ${version}.`,

  deleted: 'Deleted',
  deletedTitle: 'Deleted in the last 7 days',
  deletedNone: 'Nothing was deleted here lately',
  deletedNoneHelp: 'What is deleted can be restored for 7 days, if no rekey came after it.',
  restore: 'Restore',
  restoreNamed: (key: string) => `Restore ${key}`,

  compare: 'Compare',
  compareTitle: 'Two environments, by value',
  compareWith: 'With',
  difference: 'Difference',
  sameAll: 'They hold the same',
  sameAllHelp: 'Each name is in both, with the same value and policy.',
  onlyIn: (environment: string) => `only in ${environment}`,
  otherValue: 'other value',
  otherPolicy: 'other policy',
}

const MAX_LISTED = 10

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).join(', ')
  return names.length > MAX_LISTED ? `${shown} and ${names.length - MAX_LISTED} more` : shown
}
