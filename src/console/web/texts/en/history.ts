/** The signed history of a workspace. */
export const historyTexts = {
  title: 'History',
  what: 'Each change of members, hosts and keys is signed by who made it, and names the one before. The server can add and change none, and leave out none that another follows. It can withhold the newest, until this browser has seen it.',
  number: 'No.',
  when: 'When',
  who: 'Who',
  change: 'Change',
  links: 'Signed changes',
  hash: 'Hash',
  find: 'Find a change',
  findHelp: 'By what it says, who signed it, its number, or the beginning of its hash.',
  shown: (count: number, all: number) => `${count} of ${all} changes, each verified.`,
  nothingFound: 'No change is like that.',
  notSigned: 'This workspace is not signed.',
  notSignedHelp:
    'What the server shows of it is believed. Workspaces that are made now are signed.',
  verified: (count: number) =>
    `All ${count === 1 ? 'of its one signed change' : `${count} signed changes`} hold, and continue what this browser saw before.`,
  broken:
    'What the server shows is not what was signed. Nothing is read or written here until that is clear.',
  brokenHelp:
    'Somebody may have written into the database, or it was put back to an older state. Ask another member what they see, and whoever runs the server.',
  first: 'Fingerprint of the workspace, to compare with other members',
  verify: 'Verify everything',
  verifying: 'Reading and verifying every environment and token',
  all: (members: number, environments: number, tokens: number | null) =>
    `Verified: ${members === 1 ? 'one member' : `${members} members`}, ${environments === 1 ? 'one environment' : `${environments} environments`}${tokens === null ? '' : ` and ${tokens === 1 ? 'one token' : `${tokens} tokens`}`}.`,
  faults: 'This does not hold:',
  environmentFault: (place: string, fault: string) => `${place}: ${fault}`,
  tokenFault: (label: string, why: string) => `token ${label}: ${why}`,
}
