/** What the page can ask for. A command is `(held, input, progress?) => output`; its types are all there is of it. */
import type { Held } from '../held.ts'
import type { Progress } from '../reports.ts'

/** Each is loaded when it is first asked: the page begins without them. */
export const areas = {
  accounts: () => import('./accounts.ts'),
  agents: () => import('./agents.ts'),
  allowlist: () => import('./allowlist.ts'),
  audit: () => import('./audit.ts'),
  credentials: () => import('./credentials.ts'),
  first_steps: () => import('./first_steps.ts'),
  grants: () => import('./grants.ts'),
  history: () => import('./history.ts'),
  live: () => import('./live.ts'),
  members: () => import('./members.ts'),
  names: () => import('./names.ts'),
  passkeys: () => import('./passkeys.ts'),
  policies: () => import('./policies.ts'),
  projects: () => import('./projects.ts'),
  rotation: () => import('./rotation.ts'),
  secrets: () => import('./secrets.ts'),
  transfers: () => import('./transfers.ts'),
  versions: () => import('./versions.ts'),
  workspaces: () => import('./workspaces.ts'),
}

type Run = (held: Held, input: unknown, progress: (progress: Progress) => void) => unknown

/** @throws Error for one that there is not */
export async function commandNamed(name: string): Promise<Run> {
  const [area = '', command = ''] = name.split('.')
  const load = Object.entries(areas).find(([own]) => own === area)?.[1]
  const commands: Record<string, unknown> = { ...(await load?.()) }
  const run = Object.hasOwn(commands, command) ? commands[command] : undefined
  if (typeof run !== 'function') throw new Error(`there is no command ${name}`)
  return run as Run
}
