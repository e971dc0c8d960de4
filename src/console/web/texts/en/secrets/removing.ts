/** Deleting projects and environments. */
import { formatNames, secretsHeld } from '../counts.ts'

type Held = { name: string; secrets: number; hasMore: boolean }

export const removing = {
  project: 'Delete project…',
  environment: 'Delete environment…',
  projectVerb: 'Delete project',
  environmentVerb: 'Delete environment',
  title: (name: string) => `Delete ${name}?`,
  environmentOf: (project: string) => `Delete an environment of ${project}?`,
  ofProject: (held: readonly Held[]) =>
    `Deletes ${secretsHeld(
      held.reduce((sum, { secrets }) => sum + secrets, 0),
      held.some(({ hasMore }) => hasMore),
    )} in ${formatNames(
      held.map(({ name, secrets, hasMore }) => `${name} (${secrets}${hasMore ? '+' : ''})`),
    )}. Agents using them will fail right away.`,
  ofEnvironment: ({ name, secrets, hasMore }: Held) =>
    `Deletes ${name} with ${secretsHeld(secrets, hasMore)}. Agents using them will fail right away.`,
  agents: (names: readonly string[]) => `Deletes these agents: ${formatNames(names)}.`,
  tokens: (names: readonly string[]) =>
    names.length === 0 ? 'No tokens are revoked.' : `Revokes these tokens: ${formatNames(names)}.`,
  token: (label: string, agent: string | null) => (agent === null ? label : `${label} (${agent})`),
  restoreProject: 'Restore the project and its secrets within 7 days in a terminal:',
  restoreEnvironment: 'Restore its secrets within 7 days in a terminal:',
  done: (name: string) => `${name} deleted.`,
  doneTokensLeft: 'Its tokens are not in the signed history.',
  wasGone: (name: string) => `${name} was already deleted by someone else.`,
}
