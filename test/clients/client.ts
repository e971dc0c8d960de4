/** Parts of the matrix: real clients, their actions, and the two ways in which their calls are led. */

export const actions = ['call', 'stream', 'upload', 'error', 'refusal'] as const
/** `refusal` is a call with a credential that is for another host. */
export type Action = (typeof actions)[number]

export const ways = ['forward', 'proxy'] as const
export type Way = (typeof ways)[number]

export type Cell = `${Way} ${Action}`

export const languages = [
  'Command line',
  'Node.js',
  'Bun',
  'Deno',
  'Python',
  'Go',
  'Java',
  'Rust',
  'Ruby',
  'PHP',
  'Perl',
] as const
export type Language = (typeof languages)[number]

export type Client = {
  name: string
  language: Language
  /** Packages that are installed for it: exact versions, except Debian's, whose distribution chooses the version. */
  packages: readonly string[]
  /** The API that it calls. */
  api: string
  /** In `programs/`, with the ending of its language. */
  program: string
  /** Options that it needs. */
  note?: string
  /** Actions that it has no call for, with the reason. */
  lacks?: Partial<Record<Action | Way, string>>
  /** It does not print what the API answers to an upload. */
  isSilent?: true
  /** Cells that are known to fail, with the reason. */
  fails?: Partial<Record<Cell, string>>
}

/** All cells of a way fail for one reason. */
export function allOf(way: Way, reason: string): Partial<Record<Cell, string>> {
  return Object.fromEntries(actions.map((action): [Cell, string] => [`${way} ${action}`, reason]))
}

/** A cell fails alike both ways. */
export function bothWays(action: Action, reason: string): Partial<Record<Cell, string>> {
  return Object.fromEntries(ways.map((way): [Cell, string] => [`${way} ${action}`, reason]))
}
