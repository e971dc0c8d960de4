/** Sheets and dialogs of the secrets screen. */
import { formatNames, secretCount } from '../counts.ts'

type Undone = 'restored' | 'deleted' | 'changed'

export const sheetTexts = {
  environment: 'Environment',
  name: 'Name',
  nameHelp: 'Use letters, digits and _, like an environment variable.',
  badName: 'Use up to 128 letters, digits and _. Don’t start with a digit.',
  taken: (key: string) => `${key} already exists. Open it to change its value.`,
  valueIn: (environment: string) => `Value in ${environment}`,
  everywhere: 'Value everywhere',
  sameEverywhere: 'Use the same everywhere',
  showTyped: 'Show what I type',
  notSensitive: 'Not sensitive (shown in logs and output)',
  add: 'Add secret',
  added: (key: string, environments: readonly string[]) =>
    `${key} added to ${formatNames(environments)}.`,

  importTitle: 'Import .env',
  importHelp: 'Paste lines, or drop a file anywhere on this screen.',
  importText: 'Lines such as NAME=value',
  chooseFile: 'Choose a file',
  notText: 'This file isn’t UTF-8 text.',
  drop: 'Drop to import',
  preview: 'Preview changes',
  back: 'Back',
  line: (line: number, name: string | null, reason: string) =>
    name === null ? `Line ${line}: ${reason}` : `Line ${line} (${name}): ${reason}`,
  fixFirst: 'Fix these lines first. Nothing is imported.',
  repeated: (keys: readonly string[]) =>
    `Listed twice, so the last value counts: ${formatNames(keys)}.`,
  changes: { new: 'New', value: 'New value', policy: 'New policy' },
  setting: 'not sensitive',
  change: 'Change',
  changeList: 'Changes',
  unchanged: (count: number) => `${secretCount(count)} unchanged.`,
  nothing: 'Nothing to change.',
  import: (count: number) => `Import ${secretCount(count)}`,
  copy: (count: number) => `Copy ${secretCount(count)}`,
  imported: (created: number, updated: number, environment: string) =>
    `${environment}: ${created} added, ${updated} changed.`,
  undone: (
    environment: string,
    { restored, deleted, changed }: Record<Undone, readonly string[]>,
  ) =>
    [
      `${environment}: ${deleted.length} deleted, ${restored.length} restored.`,
      ...(changed.length > 0 ? [`Changed since, so kept: ${formatNames(changed)}.`] : []),
    ].join(' '),
  notUndone: 'Not undone. Open a secret’s versions to restore it.',

  copyTitle: (count: number) => `Copy ${secretCount(count)}`,
  from: 'From',
  to: 'To',

  policiesTitle: (count: number) => `Set policies of ${secretCount(count)}`,

  compareTitle: 'Compare environments',
  compareOne: 'Compare',
  compareOther: 'With',
  differences: (count: number) => (count === 1 ? '1 difference' : `${count} differences`),
  noDifference: 'Both environments have the same secrets.',
  onlyIn: (environment: string) => `Only in ${environment}`,
  otherValue: 'Different value',
  otherPolicy: 'Different policy',

  deletedTitle: 'Deleted secrets',
  deletedHelp: 'You can restore secrets for 7 days.',
  deletedNone: 'Nothing was deleted in the last 7 days.',
  deletedFrom: (environment: string) => `Deleted from ${environment}`,
  restore: 'Restore',
  restoreNamed: (key: string) => `Restore ${key}`,
  restored: (count: number) => `${secretCount(count)} restored.`,
  notRestored: 'Not restored. Open the deleted secrets to retry.',

  removeVerb: (count: number) => (count === 1 ? 'Delete secret' : 'Delete secrets'),
  removeFrom: (environment: string) => `Delete from ${environment}…`,
  removeTitle: (keys: readonly string[], environment: string) =>
    `Delete ${keys.length === 1 ? keys[0] : secretCount(keys.length)} from ${environment}?`,
  removeLoss: (keys: readonly string[]) =>
    `Agents using ${formatNames(keys)} will fail right away. You can restore ${keys.length === 1 ? 'it' : 'them'} for 7 days.`,
  removeNone: (environment: string) => `None of them is in ${environment}.`,
  removed: (count: number, environment: string) =>
    `${secretCount(count)} deleted from ${environment}.`,

  newProject: 'New project',
  projectName: 'Project name',
  projectRule: 'Use 2 to 63 lowercase letters, digits, _ and -. Start with a letter or digit.',
  notAllowed: 'This name isn’t allowed.',
  createProject: 'Create project',
  newEnvironment: 'New environment',
  environmentName: 'Environment name',
  environmentRule: 'Use up to 32 lowercase letters, digits, _ and -. Start with a letter.',
  createEnvironment: 'Create environment',
  created: (name: string) => `${name} created.`,
}
