/** The headings under which `cloakroom --help` lists the commands, in order. */
const GROUPS: readonly (readonly [heading: string, names: readonly string[]])[] = [
  [
    'Start',
    ['demo', 'serve', 'register', 'login', 'logout', 'recover', 'whoami', 'status', 'init', 'link'],
  ],
  ['Secrets', ['secrets', 'env', 'run', 'inject', 'policy', 'project']],
  [
    'Agents',
    ['agent', 'token', 'workload-token', 'allowlist', 'call', 'proxy', 'mcp', 'echo', 'audit'],
  ],
  ['Team and account', ['workspace', 'account', 'password', 'recovery', 'sessions', 'console']],
  ['This machine', ['unlock', 'lock', 'trust', 'config', 'completion', 'version']],
  [
    'Server',
    [
      ...['settings', 'keygen', 'health', 'doctor', 'self-check', 'backup', 'restore', 'move'],
      ...['upgrade', 'rekey-outer', 'calculate_metrics'],
    ],
  ],
]

const order = GROUPS.flatMap(([, names]) => names)

/** The heading of a command, or that of commands without one. */
export function helpGroupOf(name: string): string {
  const [heading = 'Commands'] = GROUPS.find(([, names]) => names.includes(name)) ?? []
  return `${heading}:`
}

export function byHelpOrder(one: string, other: string): number {
  return order.indexOf(one) - order.indexOf(other)
}
