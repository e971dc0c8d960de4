/** Requests to use held secrets, refused hosts and agents' proposals that wait for a person. */
import { callCount } from '../counts.ts'
import { signKeys } from '../keys.ts'
import { formatExactLength } from '../lengths.ts'

const formatSome = (count: number, one: string, many: string) =>
  count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]

export const waitingTexts = {
  title: 'Waiting for you',
  count: (count: number) => `${count} waiting for you`,
  summary: ({ requests, hosts, proposals }: Record<'requests' | 'hosts' | 'proposals', number>) =>
    [
      ...formatSome(requests, 'approval', 'approvals'),
      ...formatSome(hosts, 'host was refused', 'hosts were refused'),
      ...formatSome(proposals, 'proposal', 'proposals'),
    ].join(' · '),
  calls: callCount,
  proposedBy: (agent: string) => `Proposed by ${agent}`,
  showMore: (count: number) => `Show ${count} more`,
  review: 'Review',
  reviewing: (what: string) => `Review ${what}`,
  ignore: 'Ignore',
  ignoring: (what: string) => `Ignore ${what}`,
  isIgnored: 'Ignored',
  ignored: 'Hidden until it happens again.',
  sign: 'Sign and allow',
  signKeys,
  needsApproval: 'Needs approval',
  allowUse: (agent: string, secrets: string) => `Let ${agent} use ${secrets}?`,
  asks: (agent: string, token: string) => `${agent} (token ${token}) asks to make this call.`,
  sent: 'Request to send',
  decision: 'Decision',
  reason: 'Reason',
  noReason: 'The agent gave no reason.',
  query: 'Query',
  headers: 'Headers',
  body: 'Body',
  pair: (name: string, value: string) => `${name}: ${value}`,
  bodySize: (type: string | null, bytes: number) =>
    `${type ?? 'no type'}, ${bytes.toLocaleString('en')} ${bytes === 1 ? 'byte' : 'bytes'}`,
  bodies: {
    none: 'No body',
    stream: 'Not covered: this call opens a stream that may send anything.',
    unshown: 'Not shown: it isn’t text, or exceeds 64 KiB.',
  },
  wholeBody: 'Show the whole body',
  secrets: 'Secrets',
  secret: (key: string, project: string, environment: string) =>
    `${key} in ${project} / ${environment}`,
  needs: { member: 'needs approval by a member', admin: 'needs approval by an admin' },
  expires: (time: string) => `Expires at ${time}`,
  howFar: 'How far',
  once: 'Only this call',
  onceHelp: 'Exactly what is shown above, once.',
  forTime: (length: string) => `Calls for ${length}`,
  window: (methods: readonly string[], address: string) =>
    `${methods.join(', ')} ${address}, with any query, headers and body.`,
  prefix: 'Paths that begin with',
  seconds: 'How long',
  otherMethods: 'Also allow',
  length: formatExactLength,
  deny: 'Deny',
  denyAndMute: 'Deny and mute for 1 hour',
  denied: 'Denied. The same call is refused for 1 hour.',
  muted: 'Denied. This token can’t ask for these secrets for 1 hour.',
  onlyWriters: 'Owners, admins and members decide. Your role is read-only.',
  onlyAdmins: 'Only an owner or admin can allow this.',
  next: 'Allowed. Waiting for the next call…',
  passed: 'Allowed. The call went through.',
  refusedAgain: 'Allowed. The next call stopped for another reason.',
  ended: {
    used: 'Allowed. The call went through.',
    expired: 'The approval expired before the call.',
    revoked: 'Revoked. The next call needs a new approval.',
    denied: 'Denied.',
  },
  opened: (length: string) => `Allowed for ${length}.`,
  hidden: (count: number) =>
    count === 1
      ? '1 request is hidden: not verified.'
      : `${count} requests are hidden: not verified.`,
  hiddenHelp: 'To see why, run',
  hiddenCommand: 'cloakroom approvals list --all',
  more: (count: number) => `${count} more waiting. Decide these first.`,
  released: 'Allowed now',
  releasedOnce: (method: string, host: string) => `${method} ${host} once`,
  until: (time: string) => `until ${time}`,
  revoke: 'Revoke',
  revoking: (what: string) => `Revoke ${what}`,
  revoked: 'Revoked. The next call needs a new approval.',
  proposal: 'Proposal',
  proposes: (agent: string) => `Accept the proposal of ${agent}?`,
  whatChanges: 'What changes',
  hosts: 'Allowed hosts',
  newSecrets: 'Secrets',
  described: (key: string, description: string | null) =>
    description === null ? key : `${key}: ${description}`,
  reject: 'Reject',
  rejected: 'Rejected. The same proposal stays rejected.',
  accepted: 'Accepted.',
  everyAgent: 'Every agent can call new hosts.',
  hostsExist: 'All its hosts are already allowed.',
  askAdmin: 'Only an owner or admin can allow a host.',
  project: 'Project',
  environment: 'Environment',
  value: (key: string) => `Value of ${key}`,
  valueHelp: (hosts: readonly string[]) =>
    hosts.length === 0
      ? 'It can go to every allowed host.'
      : `It can only go to ${hosts.join(', ')}.`,
  secretsExist: 'This environment has all of these secrets.',
  signAndAccept: 'Sign and accept',
}
