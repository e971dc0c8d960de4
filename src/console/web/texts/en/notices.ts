/** Notices about workspaces. */
export const notices = {
  read: 'Got it',
  met: (name: string) =>
    `${name} is new to this browser. Compare its fingerprint with another member.`,
  plain: (name: string) =>
    `${name} is new to this browser and isn’t signed. Compare its fingerprint first.`,
  rekeyed: (name: string) => `${name} was rekeyed.`,
  epoch: (epoch: number) => `Epoch ${epoch}`,
  people: (name: string) => `Members of ${name} changed since your last visit.`,
  changes: (count: number) => (count === 1 ? 'Show the change' : `Show ${count} changes`),
  change: (at: string, by: string, what: string) => `${at}, ${by}: ${what}`,
  kinds: { workspace: 'workspace', project: 'project', agent: 'agent' },
  changed: (kind: string, name: string, workspace: string | null) =>
    `${name}${workspace === null ? '' : ` in ${workspace}`} is a different ${kind} than before. It’s blocked.`,
  changedHelp: 'Names aren’t signed: an admin or the server can reuse one. Ask who renamed it.',
  before: 'Before',
  now: 'Now',
  review: 'Review…',
  accept: 'Use the new one',
  accepting: (name: string) => `Use the new ${name}?`,
  broken: (name: string) => `The signed history of ${name} doesn’t verify. It’s blocked.`,
  history: 'Show signed history',
  hidden: (name: string) => `The server no longer lists ${name}. Did you leave it?`,
  forget: 'I left it',
}
