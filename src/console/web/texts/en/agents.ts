/** Agents and tokens: the list, the wizard, revoking, and how programs are set up. */
type Capabilities = readonly string[]

const mayOf = (capabilities: Capabilities) => {
  const uses = capabilities.includes('use')
  if (!capabilities.includes('read')) return 'may use secrets in calls, and never sees one'
  return uses
    ? 'may use secrets in calls, and read them'
    : 'may read secrets, and use none in calls'
}

const placeOf = (project: string | null, environment: string | null) => {
  if (project === null && environment === null) return 'the whole workspace'
  if (project === null) return `${environment} of every project`
  return environment === null ? `all of ${project}` : `${project}/${environment}`
}

export const agentTexts = {
  title: 'Agents and tokens',
  intro:
    'An agent calls APIs with your secrets without seeing them. What each of its tokens may do is signed by who made it.',
  onlyAdmins: 'Owners and admins of the workspace make and revoke tokens, and see them.',
  none: 'No agent has a token yet.',
  noneHelp: 'Make one, and give it to Claude Code, Cursor, a script or a CI job.',
  noneCommand: 'cloakroom agent create deploy-bot',
  workloads: 'Containers and CI jobs',
  workloadsOf: (project: string) => `Tokens of ${project}`,
  noWorkloads: 'None yet. A token of a container or CI job is for one environment.',
  noTokens: 'It has no token.',
  noProject: 'This workspace has no project yet, and a token is for one.',
  noProjectCommand: 'cloakroom project create billing',
  make: 'New token',
  makeFor: (name: string) => `New token for ${name}`,
  whole: 'the whole workspace',
  deleted: 'a project that was deleted',
  inPlace: placeOf,
  may: mayOf,
  summary: (capabilities: Capabilities, place: string) => `${mayOf(capabilities)}, in ${place}`,
  statuses: { active: 'works', expired: 'expired', revoked: 'revoked' },
  ends: (date: string) => `until ${date}`,
  noEnd: 'without end',
  used: (date: string) => `last used ${date}`,
  unused: 'never used',
  made: (date: string) => `made ${date}`,
  signedBy: (by: string) => `signed by ${by}`,
  doesNotHold: (why: string) => `It can do nothing: ${why}.`,
  differs:
    'The server says otherwise of it. What is shown is what was signed, and that alone counts; who looks after the server should hear of it.',
  holds: 'Has keys of:',
  noKeys: 'It has the key of no environment, so it can use nothing.',
  oldKey: (place: string) =>
    `${place} (of a key of before the rekey, which opens nothing any more)`,
  giveKeys: 'Missing keys',
  giveKeysTo: (label: string) => `Missing keys of ${label}`,
  lacksNone: 'It has the key of every environment that it may use.',
  lacks: 'It may use these environments, and has no key of them, so its calls there are refused:',
  lacksOld: 'the workspace was rekeyed, and what it has is of before',
  lacksNew: 'made after the token, or taken from it, or left out by a rekey',
  giving:
    'Each key is sealed to this token, and signed by you. It may then use every secret there.',
  give: (count: number) => (count === 1 ? 'Give it the key' : `Give it ${count} keys`),
  given: (label: string, count: number) =>
    count === 1 ? `${label} has the key.` : `${label} has ${count} keys more.`,
  ended: (count: number) => `${count} that ended`,
  revoke: 'Revoke',
  revokeSome: 'Revoke a token…',
  revokeNamed: (label: string) => `Revoke ${label}?`,
  revokeOf: (label: string, owner: string) => `Revoke ${label} of ${owner}`,
  looking: 'Looking which one it is',
  endedBefore: 'It does not work any more: it has ended, or was revoked.',
  revoking: (owner: string, label: string, may: string) =>
    `With ${label}, ${owner} ${may}. From now on this token is refused everywhere, within a second, and calls under way end.`,
  noUndo: 'This cannot be undone: who needs a token again gets a new one.',
  revoked: (label: string) => `${label} is revoked.`,
  unsigned:
    'The server took no signature for it: only its database says so, and who writes that can take it back.',
  remove: 'Delete the agent',
  removeNamed: (name: string) => `Delete ${name}?`,
  removing: (name: string) =>
    `${name} and all its tokens are refused from now on. What it did stays in the audit.`,
  removed: (name: string) => `${name} is deleted.`,
}

export const wizard = {
  kind: 'For whom',
  kinds: { agent: 'An agent: Claude Code, a script, a bot', workload: 'A container or CI job' },
  name: 'Name',
  nameHelp: 'It stands in the audit beside every call.',
  label: 'Label of the token',
  project: 'Project',
  everyProject: 'Every project of the workspace',
  environment: 'Environment',
  everyEnvironment: 'Every environment that is there now',
  capabilities: 'What may it do',
  may: {
    use: 'Use secrets in calls, without seeing them',
    'use,read': 'Use secrets in calls, and read them',
    read: 'Read secrets, and use none in calls',
  },
  days: 'For how long',
  lengths: {
    '1': 'A day',
    '7': 'A week',
    '30': 'A month',
    '90': '90 days',
    '365': 'A year',
    never: 'Without end',
  },
  summary: (name: string, place: string, capabilities: Capabilities) =>
    `${name || 'It'} ${agentTexts.summary(capabilities, place)}.`,
  readingWarning: 'Who reads a secret can take it along: revoking the token does not take it back.',
  endlessWarning: 'A token without end works until somebody revokes it.',
  make: 'Make the token',
}

export const newToken = {
  title: 'The token',
  once: 'It was made in this browser, and was not sent anywhere. Copy it now: when you close this, nobody can show it again.',
  name: 'the token',
  close: 'I have it',
  setUp: 'Set it up',
  environment: 'In the environment that it starts in',
  unknown:
    'The operator has not said where the resolver is reached (SERVICE_RESOLVER_URL): put its address in the place of localhost.',
  atMachine: 'On a machine where you are logged in, no file and no variable needs a token:',
  elsewhere: (file: string) =>
    `On any other machine, this goes into ${file}, beside the variables above:`,
  call: 'A call. Put in the name of your secret; the value goes in at the resolver:',
  sdk: 'Base URL and API key are all that most SDKs need:',
  narrowed: 'A token for one host and one secret. Use it as SERVICE_TOKEN for this SDK:',
  run: 'Where the command line is installed, one program starts with the values in its environment:',
  github: 'Keep the token as SERVICE_TOKEN among the secrets of the repository.',
  gitlab: 'Keep the token as SERVICE_TOKEN, masked, among the variables of the project.',
  ci: 'The values go into the environment of what follows:',
  ciUse:
    'Values are delivered to tokens that may read, of one environment. With this one a job calls through the resolver:',
  severalPlaces:
    'It reads several environments: a program names the one that it wants in each request for values.',
  file: 'the file',
}
