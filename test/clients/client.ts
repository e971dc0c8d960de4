/** The measured clients, the actions that each performs, and the two ways of configuring it. */

export const actions = ['call', 'stream', 'upload', 'error', 'refusal'] as const
/** `refusal` is a call with a credential whose policy names another host. */
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

/** The reason for an action that the client, or its program here, has no call for. The page omits it. */
export const NO_CALL = 'the client has no such call'
export const noStream = { stream: NO_CALL }
export const noUpload = { upload: NO_CALL }

export type Client = {
  name: string
  language: Language
  /** Packages to install. Versions are exact, except for Debian packages. */
  packages: readonly string[]
  /** The vendor's API that it calls. */
  api: string
  /** Its file in `programs/`, with the extension of its language. */
  program: string
  /** A setting that it needs. */
  note?: string
  /** Actions that are not tested, with the reason. */
  lacks?: Partial<Record<Action | Way, string>>
  /** It does not print the API's answer to an upload. */
  isSilent?: true
  /** Known failures, with the reason. */
  fails?: Partial<Record<Cell, string>>
}

/** All actions of a way fail for one reason. */
export function allOf(way: Way, reason: string): Partial<Record<Cell, string>> {
  return Object.fromEntries(actions.map((action): [Cell, string] => [`${way} ${action}`, reason]))
}

/** An action fails both ways for one reason. */
export function bothWays(action: Action, reason: string): Partial<Record<Cell, string>> {
  return Object.fromEntries(ways.map((way): [Cell, string] => [`${way} ${action}`, reason]))
}
