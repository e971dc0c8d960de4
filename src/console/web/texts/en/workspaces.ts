/** The list of workspaces, invitations to them, and their settings. */
export const workspaceTexts = {
  title: 'Workspaces',
  mine: 'Your workspaces',
  name: 'Workspace name',
  /** Beside the name: the role, and what is special. */
  personal: 'Personal',
  plain: 'Not signed',
  blocked: 'Blocked',
  none: 'No workspaces yet.',
  create: 'Create workspace',
  createTitle: 'Create a workspace',
  createHelp: 'You become its owner. Invite others later.',
  created: (name: string) => `Created ${name}.`,
  invitations: 'Invitations',
  review: 'Review',
  reviewNamed: (name: string) => `Review the invitation to ${name}`,
  invitation: {
    title: 'Invitation',
    own: 'Your fingerprint',
    ownHelp: (inviter: string) => `Send it to ${inviter}, or read it out on a call.`,
    account: 'Account',
    none: 'You’re not invited yet',
    noneHelp: (inviter: string) => `Send your fingerprint to ${inviter}. Then check again.`,
    someone: 'the person who sent you the link',
    again: 'Check again',
    notALink: 'This link is incomplete. Ask for a new one.',
    otherServer: (server: string) => `This link is for ${server}. Open it there.`,
    to: (name: string) => `Join ${name}`,
    as: (role: string) => `You’re invited as ${role}.`,
    matches: (inviter: string) => `Verified: this is the workspace in the link from ${inviter}.`,
    unchecked: 'You came without a link. Compare the fingerprint with the person who invited you.',
    plain: 'This workspace isn’t signed. The server could change what you see.',
    first: 'Workspace',
    by: 'Managed by',
    fingerprints: 'Fingerprints',
    accept: 'Accept invitation',
    decline: 'Decline',
    isMember: (name: string) => `You’re a member of ${name}`,
    open: 'Open workspace',
  },
  settings: {
    rename: 'Rename',
    renameTitle: 'Rename the workspace',
    renamed: (name: string) => `Renamed to ${name}.`,
    card: 'Workspace',
    name: 'Name',
    fingerprint: 'Workspace fingerprint',
    fingerprintHelp: 'Everyone in this workspace must see the same one.',
    notSigned: 'This workspace isn’t signed, so it has no fingerprint.',
    history: 'Show signed history',
    role: 'Your role',
    leave: 'Leave',
    leaveWorkspace: 'Leave workspace',
    leaveHelp: 'You lose access. Only a new invitation brings you back.',
    leaving: (name: string) => `Leave ${name}?`,
    leavingHelp: 'You lose access to its secrets. Tokens you signed stop working.',
    left: (name: string) => `You left ${name}.`,
    remove: 'Delete workspace',
    removeHelp: 'Deletes its secrets, agents and projects permanently.',
    removing: (name: string) => `Delete ${name}?`,
    losses: (people: number, agents: number, projects: readonly string[]) =>
      `${people === 1 ? 'You lose' : `All ${people} members lose`} ${agentCount(agents)} and ${projectCount(projects)}.`,
    projects: 'Projects',
    undoable: 'You can’t undo this.',
    removed: (name: string) => `Deleted ${name}.`,
  },
}

function agentCount(count: number): string {
  return count === 1 ? 'one agent' : `${count} agents`
}

function projectCount({ length }: readonly string[]): string {
  return length === 1 ? 'one project' : `${length} projects`
}
