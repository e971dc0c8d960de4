/** The audit of a workspace. */
export const audit = {
  title: 'Audit',
  when: 'When',
  actor: 'Who',
  action: 'What',
  target: 'Where',
  result: 'Outcome',
  credential: 'Secret',
  records: 'Audit records',
  none: 'No record fits.',
  noneHelp: 'Calls of agents and changes by people are put on record here as they happen.',
  noneCommand: 'cloakroom audit list',
  filter: 'Filter',
  clear: 'Show all',
  fields: {
    actor: 'Agent or token',
    domain: 'Host',
    credential: 'Secret',
    environment: 'Environment',
    action: 'Action',
    since: 'From day',
    until: 'To day',
  },
  decision: (decision: string, reason: string | null) =>
    reason === null ? decision : `${decision}: ${reason}`,
  shown: (count: number, isAll: boolean, isNewest: boolean) =>
    isAll
      ? `All records that fit: ${count}.`
      : `The ${isNewest ? 'newest' : 'oldest'} ${count} records; scroll for more, or press End for the other end.`,
  toOldest: 'To the oldest',
  toNewest: 'To the newest',
  chart: 'Requests by day',
  chartText: (requests: number, blocked: number, errors: number) =>
    `${requests === 1 ? '1 request' : `${requests} requests`} in this time: ${blocked} blocked, ${errors} failed.`,
  exporting: { jsonl: 'Export (JSON lines)', csv: 'Export (CSV)' },
  exportFailed: 'The export failed. Nothing was changed; try again.',
  seen: {
    title: 'Who could have seen this secret',
    what: 'By the signed history and the grants of tokens; below are the records of who used or read it.',
    members: 'People who had the key of the workspace',
    from: (from: string) => `since ${from}`,
    between: (from: string, to: string) => `from ${from} to ${to}`,
    rekeys: 'New keys: who had left before has none for what is stored since',
    rekey: (epoch: number, at: string, by: string) => `epoch ${epoch}, ${at}, by ${by}`,
    tokens: 'Tokens, of before too',
    mayRead: 'may read values',
    mayUse: 'may use values in calls, and does not see them',
    noTokens: 'None.',
    everyEnvironment: 'every environment',
    after: (at: string) => `granted after ${at}`,
    until: (at: string) => `until ${at}`,
    doesNotHold: (why: string) => `its grant does not hold (any more): ${why}`,
    unknown:
      'It cannot know what somebody copied while they had the key, tokens that the server does not list, and who had a member’s keys, a token’s text or the server’s memory.',
  },
}
