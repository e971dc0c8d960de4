/** The commands of the page. Each is a function `(session, input, progress?) => output`, and its types are its contract. */

import type { Progress } from '../reports.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

/** Each area is loaded with its first command. */
export const commandAreas = {
  accounts: async () => (await import('./accounts.ts')).accountsCommands,
  agents: async () => (await import('./agents/index.ts')).agentsCommands,
  allowlist: async () => (await import('./allowlist.ts')).allowlistCommands,
  approvals: async () => (await import('./approvals.ts')).approvalsCommands,
  connections: async () => (await import('./connections/index.ts')).connectionsCommands,
  credentials: async () => (await import('./credentials.ts')).credentialsCommands,
  first_steps: async () => (await import('./first_steps.ts')).firstStepsCommands,
  history: async () => (await import('./history.ts')).historyCommands,
  live: async () => (await import('./live.ts')).liveCommands,
  members: async () => (await import('./members.ts')).membersCommands,
  names: async () => (await import('./names.ts')).namesCommands,
  overview: async () => (await import('../home/overview.ts')).overviewCommands,
  passkeys: async () => (await import('./passkeys.ts')).passkeysCommands,
  policies: async () => (await import('./policies.ts')).policiesCommands,
  projects: async () => (await import('./projects.ts')).projectsCommands,
  proposals: async () => (await import('./proposals.ts')).proposalsCommands,
  rotation: async () => (await import('./rotation.ts')).rotationCommands,
  search: async () => (await import('../home/search.ts')).searchCommands,
  secrets: async () => (await import('./secrets.ts')).secretsCommands,
  transfers: async () => (await import('./transfers.ts')).transfersCommands,
  versions: async () => (await import('./versions.ts')).versionsCommands,
  workspaces: async () => (await import('./workspaces.ts')).workspacesCommands,
}

type Run = (
  session: UnlockedSession,
  input: unknown,
  progress: (progress: Progress) => void,
) => unknown

/** @throws Error for an unknown command */
export async function commandNamed(name: string): Promise<Run> {
  const [area = '', command = ''] = name.split('.')
  const load = Object.entries(commandAreas).find(([own]) => own === area)?.[1]
  const commands: Record<string, unknown> = { ...(await load?.()) }
  const run = Object.hasOwn(commands, command) ? commands[command] : undefined
  if (typeof run !== 'function') throw new Error(`unknown command ${name}`)
  return run as Run
}
