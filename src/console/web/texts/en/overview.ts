/** The overview of a workspace. */
import { callCount, counter, secretCount } from './counts.ts'
import { lengthLeft } from './lengths.ts'

const figure = new Intl.NumberFormat('en')

/** `secret.rolled_back` is "Secret rolled back". */
function change(action: string): string {
  const text = action.replace('allowlist', 'allowed host').replaceAll(/[._]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const overviewTexts = {
  firstSteps: 'Make your first call',
  dismiss: 'Dismiss',
  firstCall: 'Make your first call in about two minutes.',
  nothingWaits: 'Nothing waits for you.',
  unread: 'Some of this couldn’t be loaded.',
  notRead: 'This couldn’t be loaded.',
  showMore: (count: number) => `Show ${count} more`,
  agents: counter('agent'),
  actionOn: (action: string, title: string) => `${action}: ${title}`,
  kinds: { request: 'Approval', host: 'Refused host', proposal: 'Proposal' },
  rekey: 'Replace the workspace key',
  rekeyHelp: 'Someone who left may still have the old key.',
  openMembers: 'Open members',
  reconnect: 'Reconnect',
  reconnectHelp: (environment: string) => `The provider no longer renews it · ${environment}`,
  token: (agent: string | null, label: string) =>
    agent === null ? `Token ${label}` : `Token ${label} of ${agent}`,
  ends: (at: string) => {
    const seconds = (Date.parse(at) - Date.now()) / 1_000
    return seconds > 0 ? `Expires in ${lengthLeft(seconds)}` : 'Expired'
  },
  openAgents: 'Open agents',
  missing: (count: number, project: string) =>
    `${secretCount(count)} of ${project} ${count === 1 ? 'is' : 'are'} missing in an environment`,
  addSecrets: 'Open secrets',
  invited: (role: string) => `Invited as ${role.toLowerCase()}, not accepted yet`,
  lastDay: 'Calls in 24 hours',
  number: (count: number) => figure.format(count),
  calls: 'calls',
  allowed: 'allowed',
  refused: 'refused',
  failed: 'failed',
  byHour: 'Calls by hour. Red bars were refused.',
  dayAgo: '24 hours ago',
  now: 'now',
  openLive: 'Open live requests',
  activeAgents: 'Active agents',
  noAgents: 'No agent made a call in 24 hours.',
  anonymous: 'No token',
  callCount,
  changes: 'Recent changes',
  noChanges: 'No changes yet.',
  change,
  openAudit: 'Open the audit log',
  verified: 'Signed history verified',
  notVerified: 'Signed history not verified',
  notSigned: 'This workspace is not signed',
  links: (links: number, members: number) =>
    `${figure.format(links)} links · ${members === 1 ? '1 member' : `${members} members`}`,
  openHistory: 'Open signed history',
}
