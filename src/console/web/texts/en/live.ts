/** Live requests: calls as they happen, and what lets a refused one through. */
import { secretCount } from './counts.ts'
import { lengthOf } from './lengths.ts'

const figure = new Intl.NumberFormat('en')

export const live = {
  title: 'Live requests',
  states: { opening: 'Connecting', open: 'Live', waiting: 'Reconnecting', ended: 'Disconnected' },
  reconnectHelp: 'Connection lost. Missed calls are loaded when it’s back.',
  ended: 'The connection ended.',
  again: 'Reconnect',
  gap: 'The connection was lost for over an hour. Older calls are in the audit log.',
  toAudit: 'Open the audit log',
  pause: 'Pause',
  paused: 'Paused',
  resume: 'Resume',
  newCalls: (count: number) => `${count} new`,
  newWaiting: (count: number) => `${count} waiting`,
  number: (count: number) => figure.format(count),
  isAllowed: 'Allowed',
  figures: { calls: 'calls, last hour', allowed: 'allowed', refused: 'refused', median: 'median' },
  noFigure: '–',
  histogram: 'Calls in the last hour. The bars show when; red bars were refused.',
  filters: 'Filter calls',
  shown: { all: 'All', refused: 'Refused', failed: 'Failed' },
  host: 'Host',
  anyAgent: 'Any agent',
  anyHost: 'Any host',
  anySecret: 'Any secret',
  columns: {
    time: 'Time',
    result: 'Result',
    agent: 'Agent',
    request: 'Request',
    secret: 'Secret',
  },
  moreSecrets: (count: number) => `+${count}`,
  none: 'No calls yet. A call appears here within a second.',
  noneCommand: 'cloakroom call --agent deploy-bot https://api.example.com/',
  noneFound: 'No calls match these filters.',
  showAll: 'Show all calls',
  list: 'Calls, newest first',
  underWay: 'Pending',
  decisions: { blocked: 'Refused', error: 'Failed' },
  took: (ms: number) => `${ms} ms`,
  itsToken: 'the token',
  revokeToken: (agent: string) => `Revoke the token of ${agent}`,
  anonymous: 'No token',
  unfilled: (placeholders: string) =>
    `Placeholders not replaced: ${placeholders}. Allow their place in the secret’s policy.`,
  why: {
    notListed: (host: string) => `${host} is not an allowed host, so nothing was sent.`,
    policy: (secret: string, what: string) => `The policy of ${secret} doesn’t allow ${what}.`,
    rules: {
      allowed_domains: (call: { host: string }) => `the host ${call.host}`,
      allowed_methods: (call: { method: string }) => `the method ${call.method}`,
      allowed_paths: (call: { path: string }) => `the path ${call.path}`,
      allowed_headers: () => 'the header it was in',
      allowed_locations: () => 'its place in the call',
      sign_templates: () => 'the text to sign',
      allowed_operations: () => 'the operation',
      read_only: () => 'a call that may write',
      override: () => 'a header that changes the method or path',
      objects: () => 'objects in the body',
      batch: () => 'a batch of requests',
      approval: () => 'signing, because each use needs approval',
    },
    callerGone: 'The caller disconnected before the response.',
    other: 'The call failed. The code is under Details.',
  },
  reported: 'Reported by the caller, not seen by the server. Check it before you allow anything.',
  request: 'Request',
  environment: 'Environment',
  duration: 'Duration',
  recordId: 'Record ID',
  tokenId: 'Token ID',
  code: 'Code',
  gone: 'Nothing to review',
  noTarget: 'Request without a valid target',
  goneHelp: 'This was decided, or is older than the calls shown here.',
  allowHost: (host: string) => `Allow ${host}?`,
  allowEntry: (entry: string, secret: string) => `Allow ${entry} for ${secret}?`,
  giveKey: (agent: string) => `Give ${agent} the key?`,
  refusedCall: (agent: string) => `A call of ${agent} was refused`,
  tried: (agent: string, count: number, seconds: number) =>
    `${agent} tried to call it ${times(count)} in the last ${lengthOf(Math.max(120, seconds))}. It is not an allowed host, so nothing was sent.`,
  whatChanges: 'What changes',
  hostsOf: (workspace: string) => `Allowed hosts of ${workspace}`,
  keysOf: (token: string) => `Keys of the token ${token}`,
  place: (project: string, environment: string) => `${project} / ${environment}`,
  rule: {
    allowed_domains: (secret: string, place: string) => rule('Hosts', secret, place),
    allowed_methods: (secret: string, place: string) => rule('Methods', secret, place),
    allowed_paths: (secret: string, place: string) => rule('Paths', secret, place),
    allowed_locations: (secret: string, place: string) => rule('Places', secret, place),
  },
  usual: 'the usual ones',
  anyHostOfAll: 'any allowed host',
  moreLines: (count: number) => `… ${count} more`,
  link: (seq: number) => `You sign this as link ${seq} of the workspace’s history.`,
  version: (version: number) => `Stored as version ${version}. The value stays the same.`,
  howFar: 'How far',
  /** A secret keeps the hosts that it went to before. */
  limitSecret: (secret: string, others: readonly string[]) =>
    others.length === 0 ? `Limit ${secret} to this host` : `Limit ${secret} to its hosts`,
  limitHelp: (others: readonly string[], unlimited: number) => {
    const hosts = others.length > 2 ? [`${others.length} hosts`] : others
    const goes = `It can only go to ${[...hosts, 'this host'].join(' and ')}.`
    return unlimited === 0 ? goes : `${goes} ${formatOtherSecrets(unlimited)} no host limit.`
  },
  withAny: 'With any secret',
  everyAgent: 'Every agent can call this host.',
  unlimited: (count: number) =>
    count === 0
      ? 'Every secret in this environment has a host limit.'
      : `${secretCount(count)} ${count === 1 ? 'has' : 'have'} no host limit and could be sent here.`,
  isDone: 'Already allowed. The next call goes through.',
  whatHelps: 'Next step',
  nothing: {
    scope: 'A token’s scope can’t change. Create a new token.',
    rule: 'No single change allows this. Edit the secret’s policy.',
    other: 'No change in this workspace allows this call.',
  },
  toAgents: 'Open agents',
  toSecrets: 'Open secrets',
  askAdmin: 'Ask an owner or admin to run this',
}

function rule(list: string, secret: string, place: string): string {
  return place ? `${list} of ${secret} in ${place}` : `${list} of ${secret}`
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

function formatOtherSecrets(count: number): string {
  return count === 1 ? '1 other secret has' : `${count} other secrets have`
}
