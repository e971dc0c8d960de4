/** The people of a workspace, invitations, and its key. */
const roles = { owner: 'owner', admin: 'admin', member: 'member', read_only: 'read only' }
const statuses = { active: 'active', invited: 'invited' }

export const members = {
  title: 'Members',
  email: 'E-mail address',
  role: 'Role',
  status: 'Status',
  fingerprint: 'Fingerprint',
  actions: 'Actions',
  roles,
  statuses,
  /** What each role may do, from the most to the least. */
  mayDo: {
    owner: 'Everything, and makes others owners or deletes the workspace.',
    admin: 'Invites people, gives tokens to agents, changes the allowlist, rekeys.',
    member: 'Reads and writes secrets.',
    read_only: 'Reads secrets, and writes nothing.',
  },
  you: 'you',
  unusableKeys: 'keys that cannot be used',
  roleOf: (email: string, role: string) => `Role of ${email}: ${role}`,
  removeNamed: (email: string) => `Remove ${email}`,
  remove: 'Remove',
  withdraw: 'Withdraw',
  leave: 'Leave',
  alone: 'You are alone here.',
  aloneHelp: 'Invite somebody below: they need an account on this server first.',
  aloneCommand: 'cloakroom workspace invite ada@example.com --role member',
  invite: {
    title: 'Invite somebody',
    look: 'Look at their keys',
    compare: (email: string) =>
      `Ask ${email} over another channel than this server, such as a call: does the console, or cloakroom whoami, show them this fingerprint? From the invitation on these keys are theirs for everybody here.`,
    same: 'It is the same: invite',
    other: 'It is not the same',
    invited: (email: string) => `${email} is invited. Send them the link below.`,
    already: (email: string) => `${email} is a member already.`,
  },
  link: {
    title: 'Link for who is invited',
    what: 'It opens this console and says which workspace is meant: its id, the hash of its first signed link, and your address. Nothing of it is secret. Who follows it refuses a workspace that another history stands behind.',
    make: 'Make the link',
    server: 'Address of the server, as they reach it',
    code: 'The link as a QR code',
    theLink: 'the link',
  },
  end: {
    removing: (email: string) => `Remove ${email}?`,
    leaving: 'Leave this workspace?',
    changing: (email: string, role: string) => `Make ${email} ${role}?`,
    lost: (email: string) =>
      `${email} can read nothing of this workspace from now on. What they read before they may have copied: rekey afterwards, and renew what matters.`,
    left: 'You can read nothing of this workspace from now on. Only an invitation brings you back.',
    noTokens: 'No token ends with it.',
    tokens: (count: number) =>
      count === 1
        ? 'One token that they signed ends. Sign it again to keep it; who made it may still know it:'
        : `${count} tokens that they signed end. Sign again those to keep; who made them may still know them:`,
    token: (kind: string, label: string, environments: string) =>
      `${kind} token ${label} (${environments || 'no environment'})`,
    unverified: (label: string, reason: string) => `${label} does not work already: ${reason}`,
    change: 'Change the role',
    done: (email: string) => `${email} is removed. Rekey, so that they know no key of today.`,
    changed: (email: string, role: string) => `${email} is ${role} now.`,
  },
  rekey: {
    due: 'A new key is due: somebody who knew the key of today has left, may write no more, or has new keys.',
    title: 'Rekey',
    what: 'Everything is opened here and sealed under a new key, for those who are members now.',
    ends: (changed: number, deleted: number) =>
      `It permanently ends what the old key alone opens: earlier versions (of ${secrets(changed)}), and restoring what was deleted (${secrets(deleted)}, and projects).`,
    plain:
      'This workspace is not signed; at a terminal the keys of its members are compared with those of before:',
    plainCommand: 'cloakroom workspace rekey',
    sealing: 'Sealing everything again',
    done: (epoch: number, people: number, tokens: number, count: number) =>
      `Epoch ${epoch}: ${people === 1 ? 'one member' : `${people} members`}, ${tokens === 1 ? 'one token' : `${tokens} tokens`} and ${secrets(count)} are under a new key.`,
    left: 'Not carried over, and able to do nothing any more:',
    leftOne: (label: string, creator: string | null, fingerprint: string, reason: string) =>
      `${label}, ${creator === null ? 'without a grant' : `which says it was granted by ${creator}`}, ${fingerprint}: ${reason}`,
  },
}

function secrets(count: number): string {
  return count === 1 ? 'one secret' : `${count} secrets`
}
