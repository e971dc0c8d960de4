/** The signed history of a workspace. */
const formatCount = (count: number, one: string, many: string) =>
  `${count} ${count === 1 ? one : many}`

export const historyTexts = {
  time: 'Time',
  who: 'Who',
  change: 'Change',
  number: 'No.',
  links: 'Signed changes',
  find: 'Filter changes',
  findBy: 'Change, person, number or hash',
  shown: (count: number, all: number) =>
    count === all
      ? formatCount(all, 'change', 'changes')
      : `${count} of ${formatCount(all, 'change', 'changes')}`,
  nothingFound: 'No matching changes',
  notSigned: 'This workspace isn’t signed. You trust the server for what it shows.',
  verified: 'Verified',
  verifiedStrip: (count: number) =>
    `${count === 1 ? 'The change is' : `All ${count} changes are`} signed and unbroken.`,
  broken: 'Broken',
  brokenStrip: 'The server shows something other than what was signed.',
  brokenHelp: 'Nothing is read or written here. Ask another member what they see.',
  hash: 'Hash',
  signedBy: 'Signed by',
  signedAt: 'Signed at',
  link: 'Link',
  checked: 'Checked',
  checkedHere: 'In this browser, with the signer’s key',
  first: 'Workspace fingerprint',
  firstHelp: 'Compare it with other members over another channel.',
  verify: 'Verify everything',
  verifying: 'Verifying every environment and token…',
  all: (members: number, environments: number, tokens: number | null) =>
    `Verified ${[
      formatCount(members, 'member', 'members'),
      formatCount(environments, 'environment', 'environments'),
      ...(tokens === null ? [] : [formatCount(tokens, 'token', 'tokens')]),
    ].join(', ')}.`,
  faults: 'These don’t match what was signed:',
  environmentFault: (place: string, fault: string) => `${place}: ${fault}`,
  tokenFault: (label: string, why: string) => `Token ${label}: ${why}`,
}
