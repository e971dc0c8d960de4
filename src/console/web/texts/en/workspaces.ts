/** The list of workspaces, and invitations to them. */
export const workspaceTexts = {
  title: 'Workspaces',
  name: 'Name',
  mine: 'Yours',
  role: (role: string) => `You are ${role} of it`,
  personal: 'personal',
  plain: 'not signed',
  create: 'Make a workspace',
  createHelp: 'For a team: signed from its first link on, with you as its owner.',
  rename: 'Rename',
  renameTo: (name: string) => `New name of ${name}`,
  leave: 'Leave',
  leaving: (name: string) =>
    `Leave ${name}? You can read nothing of it from then on; tokens that you signed end.`,
  remove: 'Delete',
  removing: (name: string) => `Delete ${name}?`,
  losses: (people: number, agents: number, projects: readonly string[]) =>
    `It is gone for ${people === 1 ? 'you, its only member' : `all its ${people} members`}, with ${
      agents === 1 ? 'one agent' : `${agents} agents`
    } and ${projects.length === 0 ? 'no project' : `its projects ${projects.join(', ')}`}. Nobody can bring it back.`,
  broken: 'Nothing is read from it or written to it:',
  history: 'Its history',
  invitations: 'Invitations',
  invited: (name: string, role: string) => `${name}, as ${role}`,
  look: 'Look at it',
  invitation: {
    title: 'Invitation',
    own: 'Your keys have this fingerprint. Who invites you compares it over another channel:',
    none: 'You are not invited to it yet.',
    noneHelp: (inviter: string) =>
      `Send ${inviter} your address and this fingerprint; then look again.`,
    someone: 'who sent you the link',
    again: 'Look again',
    notALink: 'This link is not whole. Ask for it again.',
    otherServer: (server: string) =>
      `The link is for the server ${server}, and this page belongs to another. Follow it there.`,
    to: (name: string, role: string) => `${name} invites you as ${role}.`,
    matches: (inviter: string) =>
      `Its signed history is the one that the link of ${inviter} names, and ${inviter} is a member of it.`,
    unchecked:
      'You came here without a link: compare the fingerprint of the workspace with who invited you.',
    plain: 'It is not signed: what the server shows of it is believed.',
    first: 'Fingerprint of the workspace',
    by: 'Its owners and admins',
    accept: 'Accept',
    decline: 'Decline',
    isMember: (name: string) => `You are a member of ${name}.`,
    open: 'Open it',
  },
}
