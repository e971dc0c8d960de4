/** Agents and tokens: the list, the inspector, and revoking. */
import { counter } from '../counts.ts'

type Capabilities = readonly string[]

/** A token's permissions, after its holder's name. */
export const canDo = (capabilities: Capabilities) => {
  if (!capabilities.includes('read')) return 'can use secrets'
  return capabilities.includes('use') ? 'can use and read secrets' : 'can read secrets'
}

export const placeText = (project: string | null, environment: string | null) => {
  if (project === null)
    return environment === null ? 'All projects' : `All projects / ${environment}`
  return environment === null ? project : `${project} / ${environment}`
}

export const agentTexts = {
  make: 'New agent',
  list: 'Agents',
  find: 'Filter agents',
  noneFound: (text: string) => `No results for "${text}"`,
  noneOfState: 'No agents in this state.',
  onlyAdmins: 'Only owners and admins can manage agents',
  none: 'Agents use your secrets without seeing them.',
  noneCommand: 'cloakroom agent create deploy-bot',
  noProject: 'Create a project first. A token is for one project.',
  noProjectCommand: 'cloakroom project create billing',
  createProject: 'Create project',
  sections: { agent: 'Agents', workload: 'Containers and CI jobs' },
  columns: {
    name: 'Name',
    scope: 'Scope',
    can: 'Can',
    lastUsed: 'Last used',
    expires: 'Expires',
    days: '7 days',
    limits: 'Limits left',
  },
  states: {
    active: 'Active',
    expired: 'Expired',
    revoked: 'Revoked',
    rejected: 'Rejected',
    none: 'No token',
  },
  chips: { all: 'All', active: 'Active', soon: 'Expiring soon', ended: 'Ended' },
  show: 'Show',
  whole: 'All projects',
  deleted: 'Deleted project',
  inPlace: placeText,
  morePlaces: (count: number) => `+${count}`,
  can: (capabilities: Capabilities) =>
    capabilities.includes('read') ? (capabilities.includes('use') ? 'Use, read' : 'Read') : 'Use',
  noTokens: 'No tokens. Create one to let this agent make calls.',
  never: 'Never',
  neverUsed: 'Never used',
  used: 'Used',
  noLimits: 'No limits',
  calls: (count: number, refused: number) =>
    `${counter('call')(count)} in 7 days, ${refused} refused`,
  byDay: 'Calls in 7 days',
  callsMade: counter('call'),
  allowed: 'Allowed',
  refused: 'Refused',
  tokens: 'Tokens',
  expires: 'Expires',
  signedBy: 'Signed by',
  created: 'Created',
  tokenId: 'Token ID',
  agentId: 'Agent ID',
  holds: 'Keys',
  makeToken: 'New token',
  makeFor: (name: string) => `New token for ${name}`,
  moreOf: (label: string) => `Actions for ${label}`,
  doesNotHold: (why: string) => `This token can’t do anything: ${why}.`,
  differs: 'The server shows other terms. Only the signed terms shown here count.',
  noKeys: 'No keys yet, so it can’t use any secret.',
  oldKey: (place: string) => `${place} (old key)`,
  giveKeys: 'Missing keys…',
  lacksTitle: (label: string) => `Missing keys of ${label}`,
  lacksNone: 'This token has every key it can use.',
  lacks: 'Calls in these environments are refused until you add the keys.',
  lacksOld: 'key replaced by a rekey',
  lacksNew: 'created after the token',
  give: (count: number) => (count === 1 ? 'Add 1 key' : `Add ${count} keys`),
  given: (label: string, count: number) => `Added ${counter('key')(count)} to ${label}.`,
  revoke: 'Revoke token',
  revokeChoice: 'Revoke…',
  revokeSome: 'Revoke a token…',
  revokeNamed: (label: string) => `Revoke ${label}?`,
  revokeOf: (label: string, owner: string) => `Revoke ${label} of ${owner}`,
  looking: 'Reading the token…',
  endedBefore: 'This token has already ended.',
  revoking: (owner: string, label: string, capabilities: Capabilities) =>
    `With ${label}, ${owner} ${canDo(capabilities)}. Its calls stop within a second.`,
  noUndo: 'You can’t undo this. Create a new token if you need one.',
  revoked: (label: string) => `Revoked ${label}.`,
  unsigned: 'The server stored no signature for this. Only its database records it.',
  remove: 'Delete agent',
  removeNamed: (name: string) => `Delete ${name}?`,
  removing: (name: string) => `${name} and all its tokens stop working. The audit log stays.`,
  removed: (name: string) => `Deleted ${name}.`,
}

export const limitTexts = {
  names: {
    calls_per_minute: 'Calls a minute',
    calls_per_day: 'Calls a day',
    concurrent_calls: 'Calls at once',
    bytes_per_day: 'Megabytes a day',
    model_tokens_per_day: 'Model tokens a day',
  },
  fields: 'Limits (optional)',
  help: 'Leave a field empty for no limit.',
  wrong: 'Enter a whole number above 0.',
  onlyUse: 'Tokens that read values have no limits.',
  left: (left: string, most: string) => `${left} of ${most} left`,
  short: {
    calls_per_minute: (left: string) => `${left} calls/min`,
    calls_per_day: (left: string) => `${left} calls`,
    concurrent_calls: (left: string) => `${left} at once`,
    bytes_per_day: (left: string) => `${left} MB`,
    model_tokens_per_day: (left: string) => `${left} model tokens`,
  },
}
