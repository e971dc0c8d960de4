/** What the page can ask for. A command is `(held, input, progress?) => output`; its types are all there is of it. */
import type { Held } from '../held.ts'
import type { Progress } from '../messages.ts'
import * as accounts from './accounts.ts'
import * as agents from './agents.ts'
import * as allowlist from './allowlist.ts'
import * as audit from './audit.ts'
import * as credentials from './credentials.ts'
import * as first_steps from './first_steps.ts'
import * as history from './history.ts'
import * as live from './live.ts'
import * as members from './members.ts'
import * as passkeys from './passkeys.ts'
import * as policies from './policies.ts'
import * as projects from './projects.ts'
import * as rotation from './rotation.ts'
import * as secrets from './secrets.ts'
import * as transfers from './transfers.ts'
import * as versions from './versions.ts'
import * as workspaces from './workspaces.ts'

export const areas = {
  accounts,
  audit,
  history,
  members,
  agents,
  allowlist,
  credentials,
  first_steps,
  live,
  passkeys,
  policies,
  projects,
  rotation,
  secrets,
  transfers,
  versions,
  workspaces,
}

type Run = (held: Held, input: unknown, progress: (progress: Progress) => void) => unknown

/** @throws Error for one that there is not */
export function commandNamed(name: string): Run {
  const [area = '', command = ''] = name.split('.')
  const commands: Record<string, unknown> = Object(
    Object.entries(areas).find(([own]) => own === area)?.[1],
  )
  const run = Object.hasOwn(commands, command) ? commands[command] : undefined
  if (typeof run !== 'function') throw new Error(`there is no command ${name}`)
  return run as Run
}
