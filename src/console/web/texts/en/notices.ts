/** What the console has noticed of workspaces. */
export const notices = {
  read: 'I have read it',
  met: (name: string) =>
    `${name} is new to this browser. Compare the fingerprint of its first link with another member, or with your other machine:`,
  plain: (name: string) =>
    `${name} is new to this browser, and not signed, unlike others of yours. Compare the fingerprint of its key with another member before you store anything in it:`,
  rekeyed: (name: string, epoch: number) => `The key of ${name} is a new one, of epoch ${epoch}.`,
  people: (name: string) => `In ${name} people or their keys have changed since you looked:`,
  change: (at: string, by: string, what: string) => `${at}, ${by}: ${what}`,
  kinds: { workspace: 'workspace', project: 'project', agent: 'agent' },
  changed: (kind: string, name: string, workspace: string | null) =>
    `The ${kind} ${name}${workspace === null ? '' : ` of ${workspace}`} is not the one that had this name before. Nothing is read from it or written to it.`,
  changedHelp:
    'Names are not signed: whoever may rename, or runs the server, can give one to something else. Ask who renamed it.',
  before: 'It stood for',
  now: 'The server shows',
  accept: 'It is the new one that I mean',
  accepting: (name: string) => `Does ${name} stand for the new one?`,
  acceptWhat: (kind: string, name: string) =>
    `From now on ${name} stands for the ${kind} that the server shows, in this browser. What had the name before is refused under it.`,
  hidden: (name: string, id: string) =>
    `You were a member of ${name} (${id}), and the server does not show it any more. New keys of your account would leave the old ones in force there.`,
  forget: 'I left it, was removed, or it was deleted',
}
