/** Requests to use held secrets, releases, and agents' proposals. */
import { secretCount } from '../counts.ts'

/** A duration in its largest whole unit. */
function lengthOf(seconds: number): string {
  const units = [
    [86_400, 'day'],
    [3_600, 'hour'],
    [60, 'minute'],
  ] as const
  const [size, unit] = units.find(([size]) => seconds % size === 0) ?? [1, 'second']
  const count = seconds / size
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

export const waitingTexts = {
  title: 'Waiting for you',
  count: (count: number) => `${count} waiting for you`,
  held: (count: number) =>
    count === 1
      ? '1 new request. Move the pointer to see it.'
      : `${count} new requests. Move the pointer to see them.`,
  newest: 'New requests are added at the end.',
  requests: 'Requests, oldest first',
  asks: (agent: string, token: string) => `${agent} (token ${token}) asks to make this call.`,
  reason: 'Reason, written by the agent',
  noReason: 'The agent gave no reason.',
  query: 'Query',
  headers: 'Headers',
  body: 'Body',
  pair: (name: string, value: string) => `${name}: ${value}`,
  bodySize: (type: string | null, bytes: number) =>
    `${type ?? 'no type'}, ${bytes.toLocaleString('en')} ${bytes === 1 ? 'byte' : 'bytes'}`,
  bodies: {
    none: 'No body',
    stream:
      'Not covered. The call opens a stream, which may send anything. Only a window allows it.',
    unshown: 'Not shown, because it is not text or has over 64 KiB.',
    text: '',
  },
  wholeBody: 'Show the whole body',
  secrets: 'Secrets',
  secret: (key: string, project: string, environment: string) =>
    `${key} in ${project}/${environment}`,
  needs: { member: 'needs approval by a member', admin: 'needs approval by an admin' },
  expires: (time: string) => `Expires at ${time}`,
  allow: 'Allow once',
  allowing: (call: string) => `Allow once: ${call}`,
  allowFor: 'Allow for …',
  allowingFor: (call: string) => `Allow for a time: ${call}`,
  deny: 'Deny',
  denying: (call: string) => `Deny: ${call}`,
  denyAndMute: 'Deny and mute for 1 hour',
  denyingAndMuting: (call: string) => `Deny and mute for 1 hour: ${call}`,
  denied: 'Denied. The same call is refused for 1 hour.',
  muted: 'Denied. All requests of this token for these secrets are refused for 1 hour.',
  onlyWriters: 'Owners, admins and members decide. Your role is read-only.',
  onlyAdmins: 'Only an owner or admin can allow this.',
  prefix: 'Paths that begin with',
  seconds: 'How long',
  length: lengthOf,
  window: (methods: string, address: string, length: string) =>
    `Allows ${methods} ${address} for ${length}, with any query, headers and body.`,
  sign: (length: string) => `Allow for ${length}`,
  next: 'Allowed. Waiting for the next call …',
  ended: {
    used: 'Allowed, and the call went through.',
    expired: 'The approval expired before the call.',
    revoked: 'Revoked. The next call needs a new approval.',
    denied: 'Denied.',
    pending: '',
    released: '',
  },
  opened: (length: string) => `Allowed for ${length}.`,
  hidden: (count: number) =>
    count === 1
      ? '1 request is hidden, because it does not verify.'
      : `${count} requests are hidden, because they do not verify.`,
  hiddenHelp: 'To see why:',
  hiddenCommand: 'cloakroom approvals list --all',
  more: (count: number) => `${count} more waiting. Decide these first.`,
  released: 'Allowed now',
  releasedOnce: (agent: string, method: string, host: string, secrets: readonly string[]) =>
    `${agent}: ${method} ${host} once, with ${secrets.join(', ')}`,
  releasedWindow: (agent: string, methods: string, address: string, secrets: readonly string[]) =>
    `${agent}: ${methods} ${address}, with ${secrets.join(', ')}`,
  until: (time: string) => `until ${time}`,
  revoke: 'Revoke',
  revoking: (what: string) => `Revoke: ${what}`,
  revoked: 'Revoked. The next call needs a new approval.',
  proposals: 'Proposals',
  proposes: (agent: string) => `${agent} proposes a change.`,
  hosts: 'Hosts to allow',
  newSecrets: 'Secrets to add',
  described: (key: string, description: string | null) =>
    description === null ? key : `${key}: ${description}`,
  accept: 'Accept …',
  accepting: (agent: string) => `Accept the proposal of ${agent}`,
  reject: 'Reject',
  rejecting: (agent: string) => `Reject the proposal of ${agent}`,
  rejected: 'Rejected. The same proposal stays rejected.',
  accepted: 'Accepted.',
  signHosts: (hosts: readonly string[]) =>
    `You sign that every agent may send to ${hosts.join(', ')}.`,
  hostsExist: 'All its hosts are allowed already.',
  askAdmin: 'Only an owner or admin can allow a host. Ask one to accept this.',
  project: 'Project',
  environment: 'Environment',
  value: (key: string) => `Value of ${key}`,
  valueHelp: (hosts: readonly string[]) =>
    hosts.length === 0
      ? 'It may go to every allowed host.'
      : `It may go to ${hosts.join(', ')} only.`,
  secretsExist: 'All its secrets exist in this environment.',
  signAndAccept: (hosts: number, secrets: number) => {
    const parts = [
      ...(hosts > 0 ? [`allow ${hosts === 1 ? '1 host' : `${hosts} hosts`}`] : []),
      ...(secrets > 0 ? [`store ${secretCount(secrets)}`] : []),
    ]
    const [first = 'Accept', ...others] = parts
    return [first.charAt(0).toUpperCase() + first.slice(1), ...others].join(' and ')
  },
}
