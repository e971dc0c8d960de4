/** Members, invitations, and the workspace key. */
const roles = { owner: 'Owner', admin: 'Admin', member: 'Member', read_only: 'Read only' }
/** Within a sentence. */
const asRoles = {
  owner: 'an owner',
  admin: 'an admin',
  member: 'a member',
  read_only: 'a read-only member',
}
const statuses = { active: 'Active', invited: 'Invited' }

export const members = {
  title: 'Members',
  filter: (count: number) => (count === 1 ? 'Filter 1 member' : `Filter ${count} members`),
  filterLabel: 'Filter members',
  chips: { all: 'All', invited: 'Invited', notCompared: 'Not compared' },
  show: 'Show',
  noMatch: 'No matching members',
  noMatchAction: 'Clear the filter',
  person: 'Member',
  email: 'Email',
  role: 'Role',
  status: 'Status',
  keys: 'Fingerprint',
  fingerprint: 'Fingerprint',
  roles,
  asRoles,
  statuses,
  /** From the least to the most. */
  mayDo: {
    read_only: 'Can read secrets. Can’t change anything.',
    member: 'Can read and change secrets.',
    admin: 'Can also manage agents, allowed hosts and members.',
    owner: 'Can also add owners and delete the workspace.',
  },
  you: 'You',
  compared: {
    own: 'Your keys',
    yes: 'Compared',
    no: 'Not compared',
    unusable: 'Invalid keys',
    ownHelp: 'Others compare this with you when they invite you.',
    yesHelp: 'You compared it on this browser.',
    noHelp: 'Ask them for it on a call. Both must be the same.',
    unusableHelp: 'Don’t share secrets with them. Ask the server’s operator.',
    mark: 'It matches',
    marked: (email: string) => `Marked the fingerprint of ${email} as compared.`,
  },
  roleOf: (email: string, role: string) => `Role of ${email}: ${role}`,
  remove: 'Remove',
  removeMore: 'Remove from workspace…',
  withdraw: 'Withdraw',
  withdrawMore: 'Withdraw invitation…',
  leave: 'Leave',
  leaveMore: 'Leave workspace…',
  alone: 'You’re the only member.',
  aloneCommand: 'cloakroom workspace invite grace@example.com',
  invite: {
    action: 'Invite member',
    title: 'Invite a member',
    steps: ['Person', 'Compare', 'Send link'],
    step: (at: number, count: number) => `Step ${at} of ${count}`,
    next: 'Continue',
    compare: (email: string) => `Call ${email} and compare this fingerprint.`,
    compareHelp: 'They see theirs under Account, or run:',
    compareCommand: 'cloakroom whoami',
    same: 'It matches, invite',
    other: 'It’s different',
    differs: 'Don’t invite them. The server may be showing false keys.',
    differsHelp: 'Ask the server’s operator, then try again.',
    back: 'Back',
    invited: (email: string) => `Invited ${email}. Send them this link.`,
    already: (email: string) => `${email} is already a member.`,
    waiting: (email: string) => `Waiting for ${email} to accept…`,
    accepted: (email: string) => `${email} accepted.`,
    done: 'Done',
  },
  link: {
    title: 'Invitation link',
    what: 'Nothing in it is secret. It proves which workspace you mean.',
    server: 'Server address',
    serverHelp: 'Change it if they reach the server by another name.',
    code: 'The link as a QR code',
    codeLabel: 'QR code',
    copy: 'Copy link',
    theLink: 'the invitation link',
  },
  end: {
    removing: (email: string) => `Remove ${email}?`,
    withdrawing: (email: string) => `Withdraw the invitation of ${email}?`,
    leaving: 'Leave this workspace?',
    changing: (email: string) => `Change the role of ${email}?`,
    changes: 'You sign',
    line: (email: string, role: string) => `${email} · ${role}`,
    lost: (email: string) =>
      `${email} loses access now. Rekey afterwards, and replace what they have seen.`,
    withdrawn: (email: string) => `${email} can’t join with the link anymore.`,
    left: 'You lose access to its secrets. Only a new invitation brings you back.',
    noTokens: 'No tokens stop working.',
    tokens: (count: number) =>
      count === 1
        ? 'One token they signed stops working. Select it to keep it.'
        : `${count} tokens they signed stop working. Select those to keep.`,
    token: (kind: string, label: string, environments: string) =>
      environments === '' ? `${label} (${kind})` : `${label} (${kind}) in ${environments}`,
    unverified: (label: string, reason: string) => `${label} already fails: ${reason}`,
    change: 'Sign and change role',
    done: (email: string) => `Removed ${email}. Rekey, so they know no current key.`,
    withdrawnDone: (email: string) => `Withdrew the invitation of ${email}.`,
    leftDone: 'You left the workspace.',
    changed: (email: string, role: string) => `${email} is now ${role}.`,
  },
  history: {
    title: 'Signed history',
    none: 'No signed changes.',
    all: 'Show signed history',
  },
  rekey: {
    due: 'A rekey is due.',
    dueHelp: 'Someone who knew the current key left or changed keys.',
    title: 'Rekey',
    more: 'Rekey workspace…',
    question: 'Rekey this workspace?',
    what: 'Seals every secret under a new key for the current members.',
    ends: (changed: number, deleted: number) =>
      `You lose earlier versions of ${secrets(changed)} and can’t restore ${formatDeletedSecrets(deleted)}.`,
    plain: 'This workspace isn’t signed. Rekey it in a terminal:',
    plainCommand: 'cloakroom workspace rekey',
    card: 'Workspace key',
    cardHelp: 'Rekey after someone leaves, or a device is lost.',
    sealing: 'Sealing everything under the new key',
    doneTitle: 'Workspace rekeyed',
    done: (people: number, tokens: number, count: number) =>
      `New key for ${people === 1 ? 'one member' : `${people} members`}, ${tokens === 1 ? 'one token' : `${tokens} tokens`} and ${secrets(count)}.`,
    epoch: 'Epoch',
    left: 'These tokens stopped working. Create new ones if you need them.',
    leftOne: (label: string, reason: string) => `${label}: ${reason}`,
    leftProof: (creator: string | null, fingerprint: string) =>
      `${creator === null ? 'No grant' : `Granted by ${creator}`}, ${fingerprint}`,
  },
}

function secrets(count: number): string {
  return count === 1 ? 'one secret' : `${count} secrets`
}

function formatDeletedSecrets(count: number): string {
  return count === 1 ? 'one deleted secret' : `${count} deleted secrets`
}
